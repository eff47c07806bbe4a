import { mergeConfig } from 'vite'
import pages from '../vite.config.ts'

export default mergeConfig(pages, { test: { include: ['tests/*.test.ts'], setupFiles: ['tests/setup.ts'] } })

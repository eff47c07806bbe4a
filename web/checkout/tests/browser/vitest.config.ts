import { mergeConfig } from 'vite'
import pages from '../../vite.config.ts'

// One browser, one server, one test at a time: two cores have enough to do with that.
export default mergeConfig(pages, {
  test: {
    include: ['tests/browser/*.test.ts'],
    globalSetup: ['tests/browser/setup.ts'],
    fileParallelism: false,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})

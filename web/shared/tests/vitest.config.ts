import { defineConfig } from 'vite'
import { tables } from '../build.ts'

export default defineConfig({
  cacheDir: '../node_modules/.vite',
  plugins: [tables()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: { include: ['tests/*.test.ts'] },
} as object)

import { mergeConfig } from 'vite'
import pages from '../../vite.config.ts'

// One browser for all, a server for each file, two files at a time: more than two cores have to do.
export default mergeConfig(pages, {
  test: {
    include: ['tests/browser/*.test.ts'],
    globalSetup: ['../shared/browser/setup.ts'],
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
})

import { mergeConfig } from 'vite'
import button from '../vite.config.ts'

// In Debian's Chromium, as the checkout's.
export default mergeConfig(button, {
  test: {
    include: ['tests/*.test.ts'],
    globalSetup: ['../shared/browser/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

import { defineConfig } from 'vitest/config'

// Against the package as it is published, and a server that scripts/with-till started.
export default defineConfig({
  test: {
    include: ['tests/*.test.ts'],
    globalSetup: ['tests/snippets.mjs'],
    // One after the other: they share a merchant, and its webhook address.
    fileParallelism: false,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

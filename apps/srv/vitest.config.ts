import { defineConfig } from 'vitest/config'

// Most of the time here is waiting for a lease to run out, so more files than cores are run at once.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    maxWorkers: 4,
    maxConcurrency: 8
  }
})

import { defineConfig } from 'vitest/config'

// A cluster of etcd and built servers are started and killed here: more waiting than work.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    maxWorkers: 2
  }
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Two files at once: most of the time a child process is starting.
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2 }
})

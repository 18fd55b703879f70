import { defineConfig } from 'vitest/config'

// Packing and installing take minutes on a slow network; nothing here is about timing.
export default defineConfig({
  test: {
    include: ['*/**/*.test.ts'],
    globalSetup: ['packaging/pack-once.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2
  }
})

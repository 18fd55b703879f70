import { defineConfig } from 'vitest/config'

// Figures are measured by bench/lan, not with the tests.
const include = process.env.AGENTMUX_FIGURES ? ['test/figures/*.figures.ts'] : ['test/**/*.test.ts']

// Most of the time here is waiting for a lease to run out, so more files than cores are run at once.
export default defineConfig({
  test: {
    include,
    testTimeout: 240_000,
    hookTimeout: 60_000,
    maxWorkers: 4,
    maxConcurrency: 8
  }
})

import { defineConfig } from 'vitest/config'

// Figures are measured by bench/lan, not with the tests.
const include = process.env.AGENTMUX_FIGURES ? ['test/figures/*.figures.ts'] : ['test/**/*.test.ts']

export default defineConfig({
  // Two files at once: most of the time is waiting for the network of other processes.
  test: { include, testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 2 }
})

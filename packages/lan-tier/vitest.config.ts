import { defineConfig } from 'vitest/config'

// Figures are measured by bench/lan, not with the tests.
const include = process.env.AGENTMUX_FIGURES ? ['test/figures/*.figures.ts'] : ['test/**/*.test.ts']

export default defineConfig({
  test: { include, testTimeout: 120_000, hookTimeout: 60_000 }
})

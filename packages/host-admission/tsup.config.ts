import { defineConfig } from 'tsup'
import { base } from '../../tsup.base.js'

// Split: what two entries share, the fault class above all, must be the same thing in both.
export default defineConfig({
  ...base,
  splitting: true,
  entry: ['src/index.ts', 'src/start-watchdog-thread.ts', 'src/watchdog-thread.ts']
})

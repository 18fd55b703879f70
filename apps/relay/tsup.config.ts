import { defineConfig } from 'tsup'
import { base } from '../../tsup.base.js'

// Each command is split off where it is imported: help and usage errors load neither the database nor the web server.
export default defineConfig({
  ...base,
  dts: false,
  splitting: true,
  entry: { cli: 'src/cli.ts' }
})

import { defineConfig } from 'tsup'
import { base } from '../../tsup.base.js'

// The programs that run inside the simulated processes are bundled anew at each start, from the sources.
export default defineConfig({
  ...base,
  dts: false,
  entry: ['src/cli.ts', 'src/mutations-cli.ts', 'src/scale-cli.ts', 'src/worker-cli.ts']
})

import { defineConfig } from 'tsup'
import { base } from '../../tsup.base.js'

// What a command needs is in few and small files, so that a run starts fast: only the native lock stays outside. What the
// daemon needs beside that, a web server among it, is split off where it is imported only once it is asked for. The
// watchdog thread is a file of its own because a thread starts from a file.
export default defineConfig({
  ...base,
  dts: false,
  minify: true,
  splitting: true,
  entry: {
    cli: 'src/cli.ts',
    'watchdog-thread': 'node_modules/@agentmux/host-admission/dist/watchdog-thread.js'
  },
  noExternal: [/^(?!fs-ext$)/],
  external: ['fs-ext'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
  }
})

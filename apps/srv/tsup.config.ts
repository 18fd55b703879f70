import { writeFile } from 'node:fs/promises'
import { defineConfig, type Options } from 'tsup'
import { base } from '../../tsup.base.js'

const DAEMON = './daemon.js'

/** The daemon is a file of its own, loaded once it is asked for: a web server is in it, which no other command needs. */
const daemonApart: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'daemon-apart',
  setup(build) {
    build.onResolve({ filter: /\/daemon\/serve\.js$/ }, () => ({ path: DAEMON, external: true }))
  }
}

// A command starts as much later as this program takes to start, so what is built here is what Node loads fastest:
// - CommonJS: for a module Node starts a second loader, in each thread, and looks up and reads every file by itself.
// - One file with all but the daemon. In it esbuild keeps what is behind an import() unevaluated until that is reached,
//   so a run pays for its own code alone, and for the modules of Node that this needs: each of those takes time as well.
// - The watchdog thread in a second file, because a thread starts from a file. It is started first, see cli.ts.
// Only the native lock stays outside.
export default defineConfig({
  ...base,
  format: ['cjs'],
  dts: false,
  minify: true,
  treeshake: false,
  entry: {
    cli: 'src/cli.ts',
    daemon: 'src/daemon/serve.ts',
    'watchdog-thread': 'node_modules/@agentmux/host-admission/dist/watchdog-thread.js'
  },
  outExtension: () => ({ js: '.js' }),
  noExternal: [/^(?!fs-ext$)/],
  external: ['fs-ext'],
  esbuildPlugins: [daemonApart],
  banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
  esbuildOptions(options) {
    options.define = { ...options.define, 'import.meta.url': '__url' }
  },
  // The package is of modules, its built files are not.
  onSuccess: () => writeFile('dist/package.json', '{ "type": "commonjs" }\n')
})

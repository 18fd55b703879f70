/**
 * The programs of the simulated processes, each in one script, with the packages as they stand in their sources: nothing of
 * them is replaced but the modules of Node they import.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import vm from 'node:vm'
import { build, type Plugin } from 'esbuild'

export type Factory = (
  require: (name: string) => unknown,
  module: { exports: Record<string, unknown> }
) => void
export type ProgramName = 'daemon' | 'store-user' | 'watchdog' | 'relay' | 'sender' | 'older-build'
export type Bundles = Readonly<Record<ProgramName, vm.Script>>

/** `sources`: the folder whose packages/ and apps/ are run; `repository`: where what they depend on is installed. */
export async function bundlePrograms(folders: { sources: string; repository: string }): Promise<Bundles> {
  const programs = join(folders.repository, 'packages/simulation/src/programs')
  const one = async (from: string | { readonly text: string }, name: string) => {
    const entry =
      typeof from === 'string'
        ? { entryPoints: [from] }
        : { stdin: { contents: from.text, resolveDir: folders.sources, loader: 'ts' as const } }
    const result = await build({
      ...entry,
      bundle: true,
      write: false,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      charset: 'utf8',
      define: { 'import.meta.url': '"sim:///program.js"' },
      external: ['fs-ext', 'undici', 'multicast-dns', 'better-sqlite3'],
      plugins: [fromSources(folders)],
      logLevel: 'silent'
    })
    const text = result.outputFiles[0]?.text ?? ''
    return new vm.Script(`(function (require, module) { const exports = module.exports;\n${text}\n})`, {
      filename: `${name}.js`
    })
  }
  const relaySource = join(folders.sources, 'apps/relay/src')
  const srvSource = join(folders.sources, 'apps/srv/src')
  const [daemon, storeUser, watchdog, relay, sender, olderBuild] = await Promise.all([
    one({ text: daemonEntry(join(programs, 'daemon.ts'), srvSource) }, 'daemon'),
    one(join(programs, 'store-user.ts'), 'store-user'),
    one(join(folders.sources, 'packages/host-admission/src/watchdog-thread.ts'), 'watchdog'),
    one({ text: relayEntry(join(programs, 'relay.ts'), relaySource) }, 'relay'),
    one(join(programs, 'sender.ts'), 'sender'),
    one({ text: olderEntry(join(programs, 'older-build.ts')) }, 'older-build')
  ])
  return { daemon, 'store-user': storeUser, watchdog, relay, sender, 'older-build': olderBuild }
}

/** The relay is an app, and nothing is imported from an app but by whoever runs it: its parts are handed to the program. */
function relayEntry(program: string, source: string): string {
  const path = (file: string) => JSON.stringify(join(source, file))
  return `import { serveRelay } from ${JSON.stringify(program)}
import { openSqliteStore } from ${path('store/sqlite/sqlite-store.ts')}
import { addLeaseRoutes } from ${path('http/routes/leases.ts')}
import { addRenewBatchRoute } from ${path('http/routes/renew-batch.ts')}
import { callerOf } from ${path('http/caller.ts')}
import { addMessageRoutes, addWakeRoute } from ${path('http/routes/messages.ts')}
import { Wakes } from ${path('http/wakes.ts')}
import { HTTP_LIMITS } from ${path('http/http-limits.ts')}
const messages = { addMessageRoutes, addWakeRoute, Wakes, HTTP_LIMITS }
export const main = (system) => serveRelay(system, { openSqliteStore, addLeaseRoutes, addRenewBatchRoute, callerOf, ...messages })`
}

/** An older build has its own way to the lock and to the network. */
function olderEntry(program: string): string {
  const module = (name: string) => `require(${JSON.stringify(name)})`
  return `import { serveOlderBuild } from ${JSON.stringify(program)}
const { Agent } = ${module('undici')}
const { flockSync } = ${module('module')}.createRequire('/')(${JSON.stringify('fs-ext')})
export const main = (system) => serveOlderBuild(system, { Agent, flockSync })`
}

/** The same for the parts of apps/srv that need no server. */
function daemonEntry(program: string, source: string): string {
  const path = (file: string) => JSON.stringify(join(source, file))
  return `import { serveDaemon } from ${JSON.stringify(program)}
import { DrivenAgents } from ${path('relay/driven-agents.ts')}
import { RelayCheck } from ${path('relay/relay-check.ts')}
import { takeAtRelay } from ${path('relay/take-at-relay.ts')}
import { RelayLink } from ${path('relay/relay-link.ts')}
import { RelayLog } from ${path('relay/relay-log.ts')}
import { PaneTurns } from ${path('panes/pane-turns.ts')}
const link = { RelayLink, RelayLog, PaneTurns }
export const main = (system) => serveDaemon(system, { DrivenAgents, RelayCheck, takeAtRelay, ...link })`
}

function fromSources({ sources, repository }: { sources: string; repository: string }): Plugin {
  return {
    name: 'from-sources',
    setup(build) {
      build.onResolve({ filter: /^@agentmux\// }, ({ path }) => {
        const name = path.slice('@agentmux/'.length)
        const folder = ['packages', 'apps']
          .map((kind) => join(sources, kind, name))
          .find((each) => existsSync(each))
        return { path: join(folder ?? '', 'src/index.ts') }
      })
      // What is installed for the packages is found there, wherever their sources are.
      build.onResolve({ filter: /^zod(\/mini)?$/ }, ({ path, pluginData, ...rest }) => {
        if (pluginData === 'zod') return undefined
        return build.resolve(path, {
          kind: rest.kind,
          resolveDir: join(repository, 'packages/lease-store'),
          pluginData: 'zod'
        })
      })
    }
  }
}

/** Starts programs in simulated processes, and the threads they start themselves. */
import type vm from 'node:vm'
import { bindRealm } from '../node/globals.js'
import { type MoreModules, modulesOf, type ThreadRole } from '../node/modules.js'
import type { StartThread } from '../node/worker-threads.js'
import type { System } from '../programs/system.js'
import type { Bundles, Factory, ProgramName } from '../run/bundles.js'
import type { Process } from './process.js'
import { Thread } from './thread.js'

export interface LaunchParts {
  readonly bundles: Bundles
  readonly more: MoreModules
}

/** Loads a program into a process, and gives it its first turn. */
export function launch(
  process: Process,
  { program, system }: { program: ProgramName; system: (thread: Thread) => System },
  parts: LaunchParts
): Thread {
  const thread = new Thread(process, process.host.pool.take(), 'main')
  const main = load(thread, parts.bundles[program], { role: {}, parts })
  thread.after(1_000, () => {
    const exports = main()
    ;(exports.main as (system: System) => void)(system(thread))
  })
  return thread
}

function load(
  thread: Thread,
  script: vm.Script,
  { role, parts }: { role: ThreadRole; parts: LaunchParts }
): () => Record<string, unknown> {
  const start: StartThread = (of, data, port) => {
    const worker = new Thread(of.process, of.process.host.pool.take(), 'watchdog')
    const run = load(worker, parts.bundles.watchdog, { role: { port, data }, parts })
    worker.after(of.world.random.int(5_000, 60_000), () => void run())
    return worker
  }
  const modules = modulesOf(thread, { start, role, more: parts.more })
  bindRealm(thread, modules)
  return () => {
    const module = { exports: {} as Record<string, unknown> }
    ;(thread.sandbox.evaluate(script) as Factory)(modules, module)
    return module.exports
  }
}

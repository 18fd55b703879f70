/** Times checkBeforeSpawn in a process of its own. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const CHECKS = fileURLToPath(new URL('early-checks.mjs', import.meta.url))

/** The distribution of the calls, milliseconds. `ownPanes`: how many agents of its own are registered. */
export function earlyTimes(shared, { calls, ownPanes = 0 }) {
  const args = [CHECKS, shared, calls, ownPanes].map(String)
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (run.status !== 0) throw new Error(`the early checks ended with ${run.status}`)
  return JSON.parse(run.stdout)
}

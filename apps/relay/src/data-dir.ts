/** Which folder a relay keeps its database in. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** A set-but-empty variable counts as unset. */
export function dataDir(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return resolve(flag ?? (env.AGENTMUX_RELAY_DATA || join(homedir(), '.agentmux', 'relay')))
}

/** Where the files are that every AgentMux instance of this user shares. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The flag, then the environment as every build reads it, then the default. A variable set to nothing counts as unset. */
export function sharedRoot(flag: string | undefined, environment: Environment): string {
  if (flag !== undefined) return resolve(flag)
  const home = environment.AGENTMUX_HOME_OVERRIDE
  if (home) return resolve(home, 'shared')
  const shared = environment.AGENTMUX_SHARED_DIR
  if (shared) return resolve(shared)
  return join(homedir(), '.agentmux', 'shared')
}

export function registryRoot(shared: string): string {
  return join(shared, 'agents', 'registry')
}

/** The channel verbatim, as others will read it. */
export function channelName(flag: string | undefined, environment: Environment): string {
  return flag ?? (environment.AGENTMUX_CHANNEL || 'stable')
}

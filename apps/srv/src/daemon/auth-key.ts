/** The key that opens everything in this daemon: from the environment, or made up (PROTOCOL 1). */
import { randomBytes } from 'node:crypto'

/** What may stand in a header. */
const KEY = /^[\x21-\x7e]{1,256}$/

/** Removed from the environment, so that nothing that we start has it. Undefined if what stands there can be no key. */
export function takeAuthKey(environment: NodeJS.ProcessEnv): string | undefined {
  const given = environment.AGENTMUX_AUTH_KEY
  delete environment.AGENTMUX_AUTH_KEY
  if (given === undefined || given === '') return randomBytes(32).toString('hex')
  return KEY.test(given) ? given : undefined
}

/** `doctor`: what this computer gives to leases, and what to do where that is not enough. It leaves nothing behind. */

import { join } from 'node:path'
import { readHostIdentity } from '@agentmux/lease-store'
import { EXIT_CODES } from '@agentmux/refusals'
import { type CommonFlags, compose } from './compose.js'
import type { Check } from './doctor/check.js'
import { checkClocks } from './doctor/check-clocks.js'
import { checkDaemon } from './doctor/check-daemon.js'
import { checkFolder } from './doctor/check-folder.js'
import { checkLan } from './doctor/check-lan.js'
import { checkLock } from './doctor/check-lock.js'
import { checkPort } from './doctor/check-port.js'
import { checkRegistry } from './doctor/check-registry.js'
import { checkRelay } from './doctor/check-relay.js'
import { print } from './output.js'
import { VERSION } from './version.js'

/** Resolves with the exit code: 69 if anything failed. */
export async function doctor(flags: CommonFlags): Promise<number> {
  const { clock, registryRoot, sharedRoot, channel } = compose(flags, process.env)
  const host = readHostIdentity()
  const leases = join(registryRoot, 'leases')
  const checks: readonly Check[] = [
    ...checkFolder(sharedRoot, leases),
    checkLock(leases),
    ...checkClocks(clock, host),
    await checkPort(),
    await checkDaemon(sharedRoot, channel, VERSION),
    await checkRegistry(sharedRoot, clock, host),
    ...(await checkLan(sharedRoot, channel)),
    await checkRelay(sharedRoot, channel)
  ]
  if (flags.json) print(JSON.stringify({ checks }, undefined, 2))
  else for (const check of checks) show(check)
  return checks.some(({ level }) => level === 'fail') ? EXIT_CODES.couldNotFindOut : 0
}

function show({ name, level, seen, todo }: Check): void {
  print(`${level.padEnd(4)}  ${name}: ${seen}`)
  if (todo !== undefined) print(`      ${todo}`)
}

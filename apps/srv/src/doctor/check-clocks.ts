/** What leases are judged by: the clock that counts from boot, the boot's id, and the pids that can be seen. */
import type { Clock, HostIdentity } from '@agentmux/lease-model'
import { durationText } from '@agentmux/refusals'
import type { Check } from './check.js'

/** Before this program was written. */
const EARLIEST_MS = Date.UTC(2025, 0, 1)

export function checkClocks(clock: Clock, host: HostIdentity): Check[] {
  const name = 'clocks'
  const checks: Check[] = []
  if (host.hostBootId === '') {
    const seen = 'the system tells no boot id: leases are judged only by watching them'
    checks.push({ name, level: 'warn', seen })
  }
  if (clock.wallMs() < EARLIEST_MS) {
    const seen = `the wall clock says ${new Date(clock.wallMs()).toISOString()}: older builds judge leases by it`
    checks.push({ name, level: 'warn', seen, todo: 'Set the clock.' })
  }
  if (checks.length === 0) {
    checks.push({
      name,
      level: 'ok',
      seen: `up for ${durationText(clock.bootMs())}, by the clock that counts from boot`
    })
  }
  checks.push(
    host.initialPidNs
      ? { name: 'processes', level: 'ok', seen: 'every pid of this computer can be seen' }
      : {
          name: 'processes',
          level: 'warn',
          seen: 'this is a container: pids of others mean nothing here, and their leases are judged by their age'
        }
  )
  return checks
}

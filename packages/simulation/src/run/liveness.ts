/** What has to be true once everything has healed and settled (R3, R7). */
import type { Host } from '../kernel/host.js'
import type { Seat } from './daemon-seat.js'
import type { Stage } from './stage.js'

/**
 * With nothing in the way a newcomer is told at once, by the relay or by the first re-check, and what it had started has ended
 * by then: two looks, their time-outs, and SIGKILL.
 */
const TURNED_AWAY_WITHIN_US = 30_000_000

/** Liveness: each agent that somebody wants is driven; on one host where they know of each other. */
export function everybodyRuns(stage: Stage): void {
  const { tier, accounts } = stage.plan
  const groups = new Map<string, Host[]>()
  for (const [index, host] of stage.hosts.entries()) {
    const group = tier === 'none' ? host.name : tier === 'lan' ? 'the LAN' : `the account ${accounts[index]}`
    groups.set(group, [...(groups.get(group) ?? []), host])
  }
  for (const [group, hosts] of groups) runsOnceIn(stage, group, hosts)
}

function runsOnceIn(stage: Stage, group: string, hosts: readonly Host[]): void {
  const { history } = stage.world
  const wanted = new Set(
    stage.seats
      .filter((seat) => hosts.includes(stage.hostOf(seat)) && isOurs(stage, seat))
      .flatMap(({ wants }) => [...wants])
  )
  for (const uid of wanted) {
    const driving = hosts.filter((host) => stage.observer.seat(host, uid).drivers.size > 0)
    if (driving.length === 0) history.violate('R3', `nobody drives ${uid} on ${group}, long after all healed`)
    for (const [index, one] of driving.entries()) {
      for (const other of driving.slice(index + 1)) {
        const forUs = stage.elsewhere.togetherForUs(uid, one, other)
        if (forUs <= TURNED_AWAY_WITHIN_US) continue
        history.violate(
          'R7',
          `${uid} is driven on ${one.name} and ${other.name} for ${Math.round(forUs / 1_000)} ms, long after all healed`
        )
      }
    }
  }
}

/** By a wall clock that was stepped an older build may wait as long as the step was: it alone promises nothing. */
function isOurs({ plan }: Stage, { index }: Seat): boolean {
  return plan.slots[index]?.older !== true
}

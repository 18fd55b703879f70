/** What has to be true once everything has healed and settled (R3, R7). */
import type { Host } from '../kernel/host.js'
import type { Stage } from './stage.js'

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
    stage.seats.filter((seat) => hosts.includes(stage.hostOf(seat))).flatMap(({ wants }) => [...wants])
  )
  for (const uid of wanted) {
    const driving = hosts.filter((host) => stage.observer.seat(host, uid).drivers.size > 0)
    if (driving.length === 0) history.violate('R3', `nobody drives ${uid} on ${group}, long after all healed`)
    if (driving.length > 1) {
      history.violate(
        'R7',
        `${uid} is driven on ${driving.map(({ name }) => name).join(' and ')}, long after all healed`
      )
    }
  }
}

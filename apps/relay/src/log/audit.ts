/** One line for each change of who drives an agent, naming both sides. Counted as well. */

import type { Metrics } from '../metrics/metrics.js'
import type { Holder } from '../model/holder.js'
import type { HolderChange } from '../store/relay-store.js'
import type { Log } from './log.js'

export function createAudit(log: Log, metrics: Metrics): (change: HolderChange) => void {
  const changes = metrics.counter(
    { name: 'agentmux_relay_holder_changes_total', help: 'Changes of who drives an agent.' },
    'because',
    ['claimed', 'taken', 'released', 'lapsed']
  )
  return ({ account, agent, because, from, to }) => {
    changes.add(because)
    const sides = { from: sideOf(from), to: sideOf(to) }
    log.info({ event: 'holder', because, account, agent, ...sides }, `${agent} ${because}`)
  }
}

function sideOf(holder: (Holder & { readonly state?: string }) | undefined) {
  if (holder === undefined) return null
  const { instance, install, host, channel, version, epoch, state } = holder
  return { instance, install, host, channel, version, epoch, ...(state === undefined ? {} : { state }) }
}

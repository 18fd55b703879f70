/**
 * A daemon in a simulated process: the real admission, record, fence, holds and take-over, put together as apps/srv does.
 * What people ask of it comes from outside; what it does is told there.
 */
import { EarlyCheck, HostAdmission, SharedRecord } from '@agentmux/host-admission'
import { createSystemClock } from '@agentmux/lease-model'
import { createInstanceIdentity, readHostIdentity } from '@agentmux/lease-store'
import { elsewhere as elsewhereOf } from './elsewhere.js'
import { letGo, othersOf, takeOverHere } from './moving.js'
import { Panes, textOf } from './panes.js'
import type { SrvParts } from './srv-parts.js'
import type { System } from './system.js'

const TTL_MS = 15_000

export function serveDaemon(system: System, srv: SrvParts): void {
  const { config } = system
  const clock = createSystemClock()
  const instance = createInstanceIdentity({ channel: config.channel, version: config.version })
  const host = readHostIdentity()
  const record = new SharedRecord(config.sharedRoot, { clock })
  const moves = { begun: 0, underWay: 0 }
  const note = (text: string) => system.tell({ kind: 'note', text })
  system.tell({ kind: 'instance', owner: instance.ownerBootId, endsPrevious: true })
  const admission = new HostAdmission({
    registryRoot: `${config.sharedRoot}/agents/registry`,
    instance,
    host,
    clock,
    ttlMs: TTL_MS,
    record,
    onFault: (agent, fault) => note(`fault with ${agent.uid}: ${textOf(fault)}`)
  })
  const elsewhere = elsewhereOf(system, { clock, admission, srv })
  const early = new EarlyCheck({
    store: admission.store,
    holds: admission.holds,
    others: othersOf(system) as never,
    clock,
    tiers: elsewhere.tiers
  })
  const panes = new Panes(system, {
    clock,
    admission,
    early,
    record,
    elsewhere,
    ttlMs: TTL_MS,
    moves
  })
  const ports = { clock, instance, admission, panes, elsewhere }

  /** What a daemon that was killed has left running, ended before anything is opened here; as apps/srv does. */
  async function endOrphans(): Promise<void> {
    for (const { uid, state, holder } of admission.store.list()) {
      if (state !== 'dead' || holder.place !== 'this-host' || holder.channel !== config.channel) continue
      const result = await admission.acquire({ uid }, { blockId: `orphan-${uid}` })
      if (result.kind === 'granted') await result.lease.release()
    }
  }

  system.answer((question) => letGo(question, ports, system))
  const ready = endOrphans().catch((fault) => note(`orphans: ${textOf(fault)}`))
  Object.assign(system.orders, {
    open: (uid: string) => void ready.then(() => panes.open(uid)),
    close: (uid: string) => panes.close(uid),
    peerSeen: () => elsewhere.peerSeen(),
    takeAtRelay: (uid: string) => {
      elsewhere
        .takeAtRelay(uid)
        .then(() => panes.open(uid))
        .catch((fault) => note(`take at the relay of ${uid}: ${textOf(fault)}`))
    },
    takeOver: (uid: string) => {
      moves.begun++
      moves.underWay++
      takeOverHere(uid, ports, system)
        .catch((fault) => note(`take-over of ${uid}: ${textOf(fault)}`))
        .finally(() => {
          moves.underWay--
        })
    }
  })
}

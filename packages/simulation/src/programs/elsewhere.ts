/**
 * The other computers, as a daemon sees them: the real LAN tier and re-check, the real client of a relay with its tick. Put
 * together as apps/srv does, without what is in the way of it there: sockets, discovery, logs.
 */
import { type HostAdmission, localHolding, localHoldings } from '@agentmux/host-admission'
import { LanHoldings, LanRecheck, LanTier } from '@agentmux/lan-tier'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { RelayTick, WanClient } from '@agentmux/wan-client'
import type { NetworkRequest, NetworkResponse, System } from './system.js'

export interface Elsewhere {
  /** The early check: whether another computer is known to drive the agent. */
  heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<boolean>
  started(uid: string): void
  /** Somebody was seen on the network: look soon. */
  peerSeen(): void
  ended(uid: string): Promise<void>
  takeAtRelay(uid: string): Promise<boolean>
}

interface Ports {
  readonly clock: Clock
  readonly admission: HostAdmission
  /** What is driven here and wanted. */
  readonly wanted: () => readonly string[]
}

/** At the end of a pane: what is not let go by then lapses by itself. */
const RELEASE_WITHIN_MS = 5_000

export function elsewhere(system: System, ports: Ports): Elsewhere {
  const lan = system.config.lan ? lanOf(system, ports) : undefined
  const relay = system.config.relay === undefined ? undefined : relayOf(system, ports)
  return {
    async heldElsewhere(agent, signal) {
      if (relay?.heldElsewhere(agent.uid) === true) return true
      const held = await lan?.tier.heldElsewhere(agent, signal).catch(() => undefined)
      if (held?.kind !== 'held') return false
      system.tell({ kind: 'refused', uid: agent.uid, why: 'lan', writes: 0, idle: false })
      return true
    },
    started(uid) {
      lan?.recheck.agentStarted()
      relay?.started(uid)
    },
    peerSeen: () => lan?.recheck.agentStarted(),
    ended: async (uid) => relay?.ended(uid),
    takeAtRelay: async (uid) => (await relay?.take(uid)) === true
  }
}

function fence({ admission }: Ports, uid: string): void {
  for (const lease of admission.held) if (lease.agent.uid === uid && lease.held) lease.fence()
}

function lanOf(system: System, ports: Ports) {
  const { clock, admission } = ports
  const { hostname } = admission.claimant
  const held = () => {
    const leases = new Map<string, { claimId: string; acquiredAtMs: number; hostname: string }>()
    for (const lease of admission.held) {
      if (lease.held)
        leases.set(lease.agent.uid, { claimId: lease.claimId, acquiredAtMs: lease.acquiredAtMs, hostname })
    }
    return leases
  }
  const asking = { peers: () => system.peers(), hostname, ownLease: (uid: string) => held().get(uid), clock }
  const holdings = new LanHoldings(asking)
  const tier = new LanTier({ ...asking, holdings })
  const recheck = new LanRecheck({
    held,
    ask: (questions, signal) => holdings.ask(questions, signal),
    clock,
    onYield: (uid, holder) => {
      system.tell({ kind: 'yields', uid, to: holder.hostname, by: 'lan' })
      fence(ports, uid)
    },
    onFault: (fault) => system.tell({ kind: 'note', text: `LAN: ${String(fault)}` }),
    onOutcome: (uid, outcome) => {
      if (outcome.kind === 'unknown')
        system.tell({ kind: 'note', text: `LAN: ${uid} is kept, ${outcome.because}` })
    }
  })
  const marked = (uid: string, holding: { held: boolean }) =>
    holding.held && recheck.isYielding(uid) ? { ...holding, yielding: true } : holding
  system.serve(async ({ method, path, body }: NetworkRequest): Promise<NetworkResponse> => {
    if (method === 'POST' && path === '/agentmux/agent/holdings') {
      const { uids } = JSON.parse(body ?? '{}') as { uids: string[] }
      const answers = Array.from(localHoldings(uids, admission), ([uid, holding]) => [
        uid,
        marked(uid, holding)
      ])
      return { status: 200, body: JSON.stringify({ holdings: Object.fromEntries(answers) }) }
    }
    const uid = /^\/agentmux\/agent\/holding\?uid=(.+)$/.exec(path)?.[1]
    if (uid === undefined) return { status: 404, body: '{}' }
    return { status: 200, body: JSON.stringify(marked(uid, localHolding(uid, admission))) }
  })
  return { tier, recheck }
}

function relayOf(system: System, ports: Ports) {
  const { clock, wanted } = ports
  const { relay, channel, version } = system.config
  const { hostname } = ports.admission.claimant
  const starting = new Set<string>()
  const subscribed = (name: string) => starting.has(name) || wanted().includes(name)
  const client = new WanClient(
    {
      url: relay?.url ?? '',
      identity: { host: hostname, channel, version, install: relay?.install ?? '' },
      token: () => relay?.token
    },
    { clock, isSubscribed: subscribed, random: () => system.random(), env: {} }
  )
  const giveUp = (uid: string, to: string) => {
    const mine = [...ports.admission.held].some((lease) => lease.agent.uid === uid && lease.held)
    if (mine) system.tell({ kind: 'yields', uid, to, by: 'relay' })
    fence(ports, uid)
  }
  const { leases } = client
  leases.onNewlyHeld((uid) => system.tell({ kind: 'held-at-relay', uid }))
  new RelayTick({
    client,
    liveAgents: () => new Set([...wanted(), ...starting]),
    onHeldElsewhere: (uid, holder) => giveUp(uid, holder.hostname),
    onFault: (fault) => system.tell({ kind: 'note', text: `relay: ${String(fault)}` })
  }).start()
  return {
    heldElsewhere: (uid: string) => leases.heldElsewhere(uid) !== undefined,
    started(uid: string) {
      starting.delete(uid)
      leases.ensure(uid).then(
        (answer) => {
          if (answer.kind === 'held-elsewhere') giveUp(uid, answer.holder.hostname)
        },
        () => {}
      )
    },
    async ended(uid: string) {
      const tooLate = new AbortController()
      const cancel = clock.after(RELEASE_WITHIN_MS, () => tooLate.abort(new Error('too late')))
      await leases.release(uid, { signal: tooLate.signal }).catch(() => {})
      cancel()
    },
    async take(uid: string) {
      starting.add(uid)
      clock.after(30_000, () => starting.delete(uid))
      leases.forgetElsewhere(uid)
      const taken = await leases.takeOver(uid)
      system.tell({ kind: 'note', text: `take of ${uid} at the relay: ${taken.kind}` })
      return taken.kind === 'held'
    }
  }
}

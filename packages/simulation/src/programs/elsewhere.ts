/**
 * The other computers, as a daemon sees them: the LAN, and the real client of a relay with its tick. Put together as apps/srv
 * does (`RelayLink`), with its own parts where they need no server.
 */
import { type ElsewhereTier, HOLD_MS, type HostAdmission } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { RelayTick, WanClient } from '@agentmux/wan-client'
import { lanLink } from './lan-link.js'
import { relayLink } from './relay-link.js'
import type { PaneSeen, SrvParts } from './srv-parts.js'
import type { System } from './system.js'
import type { DrivenPane } from './turn-panes.js'

export interface Elsewhere {
  /** Asked in this order before a start. */
  readonly tiers: readonly ElsewhereTier[]
  /** A child runs in a pane, or something about the pane has changed. Once nothing of it runs, the relay is told. */
  paneChanged(pane: PaneSeen): Promise<void>
  started(uid: string, pane: DrivenPane): void
  /** Somebody was seen on the network: look soon. */
  peerSeen(): void
  /** The relay's step of a take-over on this computer; false if another computer has the agent. */
  takeOver(uid: string, letGoBy: string | undefined): Promise<boolean>
  /** Moves the agent here at the relay, whoever has it. */
  takeAtRelay(uid: string): Promise<void>
}

interface Ports {
  readonly clock: Clock
  readonly admission: HostAdmission
  readonly srv: SrvParts
}

/** At the end of a pane: what is not let go by then lapses by itself. */
const RELEASE_WITHIN_MS = 5_000

export function elsewhere(system: System, ports: Ports): Elsewhere {
  const giveUp = (uid: string) => fence(ports, uid)
  const lan = system.config.lan ? lanLink(system, { ...ports, giveUp }) : undefined
  const relay =
    system.config.relay === undefined
      ? undefined
      : system.config.messages
        ? relayLink(system, ports.srv, ports)
        : relayOf(system, ports)
  return {
    tiers: [...(relay === undefined ? [] : [relay.tier]), ...(lan === undefined ? [] : [lan.tier])],
    paneChanged: async (pane) => relay?.paneChanged(pane),
    started(uid, pane) {
      lan?.recheck.agentStarted()
      relay?.started(uid, pane)
    },
    peerSeen: () => lan?.recheck.agentStarted(),
    takeOver: async (uid, letGoBy) => (await relay?.takeOver(uid, letGoBy)) ?? true,
    takeAtRelay: async (uid) => relay?.takeFromAnybody(uid)
  }
}

function fence({ admission }: Ports, uid: string): void {
  for (const lease of admission.held) if (lease.agent.uid === uid && lease.held) lease.fence()
}

function relayOf(system: System, ports: Ports) {
  const { clock, admission, srv } = ports
  const { relay, channel, version } = system.config
  const { hostname } = admission.claimant
  const driven = new srv.DrivenAgents(clock)
  const client = new WanClient(
    {
      url: relay?.url ?? '',
      identity: { host: hostname, channel, version, install: relay?.install ?? '' },
      token: () => relay?.token
    },
    { clock, isSubscribed: (agent) => driven.has(agent), random: () => system.random(), env: {} }
  )
  const giveUp = (uid: string, to: string) => {
    const mine = [...admission.held].some((lease) => lease.agent.uid === uid && lease.held)
    if (mine) system.tell({ kind: 'yields', uid, to, by: 'relay', claim: '' })
    fence(ports, uid)
  }
  const { leases } = client
  leases.onNewlyHeld((uid) => system.tell({ kind: 'held-at-relay', uid }))
  new RelayTick({
    client,
    liveAgents: () => driven.keys(),
    onHeldElsewhere: (uid, holder) => giveUp(uid, holder.hostname),
    onFault: (fault) => system.tell({ kind: 'note', text: `relay: ${String(fault)}` })
  }).start()
  const check = new srv.RelayCheck(leases)
  async function release(uid: string): Promise<void> {
    const tooLate = new AbortController()
    const cancel = clock.after(RELEASE_WITHIN_MS, () => tooLate.abort(new Error('too late')))
    const answer = await leases.release(uid, { signal: tooLate.signal }).catch(() => undefined)
    if (answer?.kind === 'released') system.tell({ kind: 'let-go-at-relay', uid })
    cancel()
  }
  return {
    tier: {
      name: 'relay' as const,
      heldElsewhere: (agent: { uid: string }, signal: AbortSignal) => check.heldElsewhere(agent, signal)
    },
    async paneChanged(pane: PaneSeen) {
      if (driven.note({ kind: 'changed', pane })) await release(pane.agent)
    },
    started(uid: string, _pane: DrivenPane) {
      driven.expectNoLonger(uid)
      leases.ensure(uid).then(
        (answer) => {
          if (answer.kind === 'held-elsewhere') giveUp(uid, answer.holder.hostname)
        },
        () => {}
      )
    },
    async takeOver(uid: string, letGoBy: string | undefined) {
      const letGo = () => {
        driven.expectNoLonger(uid)
        void release(uid)
      }
      const onTaken = () => system.tell({ kind: 'note', text: `${uid} was moved here at the relay` })
      const taken = await srv.takeAtRelay(
        uid,
        { letGoBy, signal: new AbortController().signal },
        { leases, driven, letGo, onTaken }
      )
      return taken.kind !== 'held-elsewhere'
    },
    async takeFromAnybody(uid: string) {
      leases.forgetElsewhere(uid)
      driven.expect(uid, HOLD_MS)
      const taken = await leases.takeOver(uid)
      system.tell({ kind: 'note', text: `take of ${uid} at the relay: ${taken.kind}` })
      if (taken.kind === 'held') system.tell({ kind: 'held-at-relay', uid })
    }
  }
}

/**
 * A daemon in a simulated process: the real admission, record, fence, holds and take-over, put together as apps/srv does.
 * What people ask of it comes from outside; what it does is told there.
 */
import {
  type HeldAgentLease,
  HostAdmission,
  InstanceEndpoint,
  RecordFence,
  SharedRecord,
  takeOver
} from '@agentmux/host-admission'
import { createSystemClock } from '@agentmux/lease-model'
import { createInstanceIdentity, readHostIdentity } from '@agentmux/lease-store'
import { type Elsewhere, elsewhere } from './elsewhere.js'
import type { Answer, Question, System } from './system.js'

const TTL_MS = 15_000
const GRACE_MS = 10_000

interface Pane {
  readonly uid: string
  readonly block: string
  wanted: boolean
  reopened: boolean
  lease: HeldAgentLease | undefined
  readonly closing: AbortController
}

export function main(system: System): void {
  const { config } = system
  const clock = createSystemClock()
  const instance = createInstanceIdentity({ channel: config.channel, version: config.version })
  const host = readHostIdentity()
  const record = new SharedRecord(config.sharedRoot, { clock })
  const panes = new Map<string, Pane>()
  let blocks = 0
  let takingOver = 0
  system.tell({ kind: 'instance', owner: instance.ownerBootId, endsPrevious: true })
  const admission = new HostAdmission({
    registryRoot: `${config.sharedRoot}/agents/registry`,
    instance,
    host,
    clock,
    ttlMs: TTL_MS,
    record,
    onFault: (agent, fault) =>
      system.tell({ kind: 'note', text: `fault with ${agent.uid}: ${textOf(fault)}` })
  })

  const wanted = () => [...panes.values()].filter((pane) => pane.wanted && pane.lease?.held === true)
  const tiers: Elsewhere = elsewhere(system, {
    clock,
    admission,
    wanted: () => wanted().map(({ uid }) => uid)
  })

  async function acquire(pane: Pane): Promise<HeldAgentLease | undefined> {
    const agent = { uid: pane.uid }
    const kept = admission.holds.refusalFor(agent)
    if (kept !== undefined) return undefined
    if (await tiers.heldElsewhere(agent, pane.closing.signal)) return undefined
    const idle = () => admission.held.size === 0 && panes.size === 1 && takingOver === 0
    const wasIdle = idle()
    const before = system.writes()
    const result = await admission.acquire(
      { ...agent, name: pane.uid },
      { blockId: pane.block, signal: pane.closing.signal }
    )
    if (result.kind !== 'granted') {
      system.tell({
        kind: 'refused',
        uid: pane.uid,
        why: result.refusal.kind,
        writes: system.writes() - before,
        idle: wasIdle && idle()
      })
      return undefined
    }
    const { lease } = result
    admission.holds.withdrawReservation(pane.uid)
    const owner = instance.ownerBootId
    system.tell({
      kind: 'granted',
      uid: pane.uid,
      epoch: lease.epoch,
      owner,
      block: pane.block,
      claimId: lease.claimId
    })
    lease.listen((refusal) => system.tell({ kind: 'lost', uid: pane.uid, why: refusal.kind }))
    return lease
  }

  /** Until it is lost, closed, or the child has ended. */
  async function drive(pane: Pane, lease: HeldAgentLease): Promise<void> {
    const { uid } = pane
    const fence = new RecordFence(lease, { record, clock, ttlMs: TTL_MS })
    const opened = await fence.append([{ kind: 'opened' }])
    if (opened.kind !== 'appended') return lease.fence()
    let ended = false
    const started = await lease.start(
      () => {
        const child = system.spawn({ uid, claimId: lease.claimId, environment: lease.environment }, () => {
          ended = true
          lease.driverExited()
        })
        return child
      },
      { ownGroup: true }
    )
    if (started.kind === 'lost') return
    tiers.started(uid)
    while (!ended && lease.held && pane.wanted) {
      await pause(pane, 500 + system.random() * 6_000)
      if (ended || !pane.wanted) break
      const fromUs = system.nowUs()
      const check = await lease.verify()
      if (check.kind === 'lost') break
      system.tell({ kind: 'turn', uid, claimId: lease.claimId, fromUs })
      await fence.append([{ kind: 'output', text: 'x' }])
    }
  }

  async function run(pane: Pane): Promise<void> {
    while (pane.wanted) {
      try {
        pane.lease = await acquire(pane)
        if (pane.lease !== undefined) await drive(pane, pane.lease)
      } catch (fault) {
        system.tell({ kind: 'note', text: `${pane.uid}: ${textOf(fault)}` })
      }
      const { lease } = pane
      if (lease !== undefined) await giveUp(lease)
      pane.lease = undefined
      if (lease !== undefined) await tiers.ended(pane.uid)
      if (pane.wanted) await pause(pane, 300 + system.random() * 2_500)
    }
    panes.delete(pane.uid)
    if (pane.reopened) open(pane.uid)
  }

  async function giveUp(lease: HeldAgentLease): Promise<void> {
    for (let tries = 0; tries < 3; tries++) {
      try {
        await lease.release({ graceMs: GRACE_MS })
        return
      } catch (fault) {
        system.tell({ kind: 'note', text: `release of ${lease.agent.uid}: ${textOf(fault)}` })
        await clock.sleep(500)
      }
    }
  }

  async function pause(pane: Pane, ms: number): Promise<void> {
    await clock.sleep(ms, pane.closing.signal).catch(() => {})
  }

  function open(uid: string): void {
    const before = panes.get(uid)
    if (before !== undefined) {
      // It is being closed: opened anew when that is over.
      if (!before.wanted) before.reopened = true
      return
    }
    const pane: Pane = {
      uid,
      block: `block-${++blocks}`,
      wanted: true,
      reopened: false,
      lease: undefined,
      closing: new AbortController()
    }
    panes.set(uid, pane)
    void run(pane)
  }

  function close(uid: string): void {
    const pane = panes.get(uid)
    if (pane === undefined) return
    pane.wanted = false
    pane.reopened = false
    pane.closing.abort(new Error('closed'))
  }

  /** The holder's half: the hold first, then the end of what runs, then the lease. The pane wants it back. */
  async function letGo(question: Question): Promise<Answer> {
    const { uid, requested_by_channel, requested_by_version } = question.body as Record<string, string>
    const lease = panes.get(uid ?? '')?.lease
    if (uid === undefined || lease === undefined || !lease.held)
      return { status: 200, body: { ok: true, released: 0 } }
    const hold = admission.holds.holdAfterHandover(uid, {
      channel: requested_by_channel ?? '',
      version: requested_by_version ?? ''
    })
    const given = await lease.release({ graceMs: GRACE_MS }).catch(() => undefined)
    if (given?.kind !== 'released') hold.withdraw()
    return { status: 200, body: { ok: true, released: given?.kind === 'released' ? 1 : 0 } }
  }

  const others = {
    endpointsOf: (holder: { pid: number; channel: string }) =>
      system
        .others()
        .filter(({ pid, channel }) => pid === holder.pid || channel === holder.channel)
        .sort((one, other) => Number(other.pid === holder.pid) - Number(one.pid === holder.pid))
        .flatMap(({ pid, channel, port }) => {
          const endpoint = InstanceEndpoint.at(`http://127.0.0.1:${port}`, { authKey: 'k', pid, channel })
          return endpoint === undefined ? [] : [endpoint]
        }),
    probeOtherInstances: async () => ({ kind: 'nobody' as const, silent: [] })
  }
  const client = {
    requestRelease: async (endpoint: InstanceEndpoint, request: Record<string, unknown>) => {
      const body = {
        uid: request.uid,
        requested_by_channel: request.requestedByChannel,
        requested_by_version: request.requestedByVersion
      }
      const answer = await system.ask(endpoint.pid, { path: '/agentmux/agent/release', body }, 30_000)
      if (answer === undefined) return { kind: 'no-answer' as const, why: 'silent' }
      return { kind: 'released' as const, count: (answer.body as { released: number }).released }
    }
  }

  async function takeOverOf(uid: string): Promise<void> {
    admission.holds.clearHandoverHold(uid)
    const result = await takeOver(
      { agent: { uid }, reserveFor: 'this-process' },
      {
        store: admission.store,
        holds: admission.holds,
        others: others as never,
        client: client as never,
        held: admission.held,
        clock,
        instance
      }
    )
    system.tell({ kind: 'note', text: `take-over of ${uid}: ${result.kind}` })
    // Whatever came of it: the person wants it here, and waits if need be.
    open(uid)
  }

  async function takeAtRelay(uid: string): Promise<void> {
    await tiers.takeAtRelay(uid)
    open(uid)
  }

  /** What a daemon that was killed has left running, ended before anything is opened here; as apps/srv does. */
  async function endOrphans(): Promise<void> {
    for (const { uid, state, holder } of admission.store.list()) {
      if (state !== 'dead' || holder.place !== 'this-host' || holder.channel !== config.channel) continue
      const result = await admission.acquire({ uid }, { blockId: `orphan-${uid}` })
      if (result.kind === 'granted') await result.lease.release()
    }
  }

  system.answer((question) => letGo(question))
  const ready = endOrphans().catch((fault) =>
    system.tell({ kind: 'note', text: `orphans: ${textOf(fault)}` })
  )
  Object.assign(system.orders, {
    open: (uid: string) => void ready.then(() => open(uid)),
    close,
    peerSeen: () => tiers.peerSeen(),
    takeAtRelay: (uid: string) => {
      takeAtRelay(uid).catch((fault) =>
        system.tell({ kind: 'note', text: `take at the relay of ${uid}: ${textOf(fault)}` })
      )
    },
    takeOver: (uid: string) => {
      takingOver++
      takeOverOf(uid)
        .catch((fault) => system.tell({ kind: 'note', text: `take-over of ${uid}: ${textOf(fault)}` }))
        .finally(() => {
          takingOver--
        })
    }
  })
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}

/** The way of one pane from the question for its agent to a running child, and what it does while that runs; as in apps/srv. */
import {
  type EarlyCheck,
  type HeldAgentLease,
  type HostAdmission,
  RecordFence,
  type SharedRecord
} from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { Elsewhere } from './elsewhere.js'
import type { System } from './system.js'

export interface Pane {
  readonly uid: string
  readonly block: string
  wanted: boolean
  reopened: boolean
  lease: HeldAgentLease | undefined
  /** Resolves once nothing of the child runs and the agent is given up, at the relay too. */
  ended: Promise<void>
  readonly closing: AbortController
}

export interface PaneDrivePorts {
  readonly clock: Clock
  readonly admission: HostAdmission
  readonly early: EarlyCheck
  readonly record: SharedRecord
  readonly elsewhere: Elsewhere
  readonly ttlMs: number
  /** Take-overs, which write too: how many have begun, and how many of them are under way. */
  readonly moves: { readonly begun: number; readonly underWay: number }
}

/** Undefined if it is refused: that is told. */
export async function acquire(
  pane: Pane,
  { admission, early, moves, panes }: PaneDrivePorts & { panes: () => number },
  system: System
): Promise<HeldAgentLease | undefined> {
  const { uid, block, closing } = pane
  const { signal } = closing
  const agent = { uid, name: uid }
  const fromUs = system.nowUs()
  const { begun } = moves
  const idle = () =>
    admission.held.size === 0 && panes() === 1 && moves.underWay === 0 && moves.begun === begun
  const wasIdle = idle()
  const before = system.writes()
  const refused = (by: string, why: string) =>
    system.tell({
      kind: 'refused',
      uid,
      by,
      why,
      fromUs,
      writes: system.writes() - before,
      idle: wasIdle && idle()
    })
  const checked = await early.checkBeforeSpawn(agent, { signal })
  if (checked.kind !== 'pass') {
    refused(checked.by, checked.refusal.kind)
    return undefined
  }
  const result = await admission.acquire(agent, { blockId: block, signal })
  if (result.kind !== 'granted') {
    refused('claim', result.refusal.kind)
    return undefined
  }
  const { lease } = result
  admission.holds.withdrawReservation(uid)
  const { ownerBootId: owner } = admission.store.instance
  const { epoch, claimId } = lease
  system.tell({ kind: 'granted', uid, epoch, owner, block, claimId })
  lease.listen((refusal) => system.tell({ kind: 'lost', uid, why: refusal.kind }))
  return lease
}

/** Until it is lost, closed, or the child has ended. */
export async function drive(
  pane: Pane,
  lease: HeldAgentLease,
  { record, clock, ttlMs, elsewhere, system }: PaneDrivePorts & { system: System }
): Promise<void> {
  const { uid } = pane
  const fence = new RecordFence(lease, { record, clock, ttlMs })
  const opened = await fence.append([{ kind: 'opened' }])
  if (opened.kind !== 'appended') return lease.fence()
  let ended = false
  const over = new AbortController()
  const wake = () => over.abort(new Error('over'))
  for (const signal of [pane.closing.signal, lease.lostSignal]) {
    if (signal.aborted) wake()
    else signal.addEventListener('abort', wake, { once: true })
  }
  const started = await lease.start(
    () =>
      system.spawn({ uid, claimId: lease.claimId, environment: lease.environment }, () => {
        ended = true
        lease.driverExited()
        wake()
      }),
    { ownGroup: true }
  )
  if (started.kind === 'lost') return
  void elsewhere.paneChanged({ blockId: pane.block, agent: uid, state: 'running' })
  elsewhere.started(uid, { blockId: pane.block, lease, fence, runs: () => !ended })
  while (!ended && lease.held && pane.wanted) {
    await clock.sleep(nextTurnMs(system), over.signal).catch(() => {})
    if (ended || !pane.wanted) break
    const fromUs = system.nowUs()
    const check = await lease.verify()
    if (check.kind === 'lost') break
    system.tell({ kind: 'turn', uid, claimId: lease.claimId, fromUs })
    await fence.append([{ kind: 'output', text: 'x' }])
  }
}

function nextTurnMs({ config, random }: System): number {
  const { turnEveryMs } = config
  return turnEveryMs === undefined ? 500 + random() * 6_000 : turnEveryMs * (0.5 + random())
}

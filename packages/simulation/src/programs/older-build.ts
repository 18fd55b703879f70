/**
 * A daemon of a build that came before ours, as far as others can tell: its leases, its answers on the LAN and over loopback, its
 * children, which carry no claim. It keeps its hand-over holds to itself and knows nothing of ours.
 */
import { createSystemClock } from '@agentmux/lease-model'
import type { Flock } from './older-files.js'
import { type Holding, type HttpAgent, OlderLan } from './older-lan.js'
import { OlderLeases, type OlderRecord } from './older-lease.js'
import type { Answer, Question, System } from './system.js'

const RENEW_MS = 5_000
/** Six renewals. */
const RECHECK_EVERY = 6
const HOLD_MS = 30_000
const GRACE_MS = 2_000

interface Pane {
  readonly uid: string
  readonly block: string
  wanted: boolean
  record: OlderRecord | undefined
  /** Ends what drives the agent; resolves when it has ended. */
  stop: (() => Promise<void>) | undefined
}

export interface OlderParts {
  readonly Agent: new () => HttpAgent
  readonly flockSync: Flock
}

/** `parts`: what only those may import whose business it is, handed in by whoever bundles this. */
export function serveOlderBuild(system: System, parts: OlderParts): void {
  const { config } = system
  const clock = createSystemClock()
  const leases = new OlderLeases({
    folder: `${config.sharedRoot}/agents/registry/leases`,
    channel: config.channel,
    version: config.version,
    clock,
    hasClaimIds: config.version !== '0.8.0',
    flock: parts.flockSync
  })
  const panes = new Map<string, Pane>()
  const holds = new Map<string, number>()
  let blocks = 0
  system.tell({ kind: 'instance', owner: leases.owner, endsPrevious: false })
  const lan = config.lan
    ? new OlderLan(system, { hostname: leases.hostname, agent: new parts.Agent(), holding })
    : undefined

  function holding(uid: string): Holding {
    const record = panes.get(uid)?.record
    const { channel, version } = config
    const { hostname } = leases
    return record === undefined
      ? { held: false, hostname, channel: '', version: '', acquired_at_ms: 0 }
      : { held: true, hostname, channel, version, acquired_at_ms: record.acquired_at_ms }
  }

  async function run(pane: Pane): Promise<void> {
    while (pane.wanted) {
      try {
        await once(pane)
      } catch (fault) {
        system.tell({ kind: 'note', text: `${pane.uid}: ${String(fault)}` })
      }
      await clock.sleep(500 + system.random() * 2_500)
    }
    panes.delete(pane.uid)
  }

  async function once(pane: Pane): Promise<void> {
    const { uid, block } = pane
    if ((holds.get(uid) ?? 0) > clock.bootMs()) return
    if (lan !== undefined && (await lan.holders(uid)).length > 0) return
    pane.record = await leases.claim(uid, block)
    if (pane.record === undefined) return
    let ended = false
    const claimId = pane.record.claim_id ?? `${leases.owner} ${block} ${pane.record.epoch}`
    const child = system.spawn({ uid, claimId, environment: {} }, () => {
      ended = true
    })
    pane.stop = async () => {
      const signal = (name: 'SIGTERM' | 'SIGKILL') => {
        if (!ended) process.kill(child.pid, name)
      }
      signal('SIGTERM')
      for (let waitedMs = 0; !ended; waitedMs += 100) {
        if (waitedMs === GRACE_MS) signal('SIGKILL')
        await clock.sleep(100)
      }
    }
    const why = await whileHeld(pane, pane.record, () => ended)
    system.tell({ kind: 'note', text: `${uid} ends: ${why}` })
    const { record } = pane
    pane.record = undefined
    await pane.stop().catch(() => {})
    pane.stop = undefined
    if (record !== undefined && why !== 'lost') await leases.release(record)
  }

  async function whileHeld(pane: Pane, record: OlderRecord, ended: () => boolean): Promise<string> {
    for (let renewals = 1; ; renewals++) {
      const dueMs = clock.bootMs() + RENEW_MS
      while (clock.bootMs() < dueMs) {
        if (ended()) return 'exited'
        if (!pane.wanted) return 'closed'
        if (pane.record === undefined) return 'let go'
        await clock.sleep(250)
      }
      const renewed = await leases.renew(record).catch(() => undefined)
      if (renewed === false) return 'lost'
      if (renewals % RECHECK_EVERY !== 0) continue
      const winner = await lan?.winner(pane.uid, record.acquired_at_ms)
      if (winner === undefined) continue
      system.tell({ kind: 'note', text: `yields ${pane.uid} to ${winner.hostname}, by the rule for two` })
      return 'beaten'
    }
  }

  async function letGo({ body }: Question): Promise<Answer> {
    const { uid = '' } = body as Record<string, string>
    const pane = panes.get(uid)
    const record = pane?.record
    if (pane === undefined || record === undefined) return { status: 200, body: { ok: true, released: 0 } }
    holds.set(uid, clock.bootMs() + HOLD_MS)
    pane.record = undefined
    await pane.stop?.().catch(() => {})
    await leases.release(record).catch(() => {})
    return { status: 200, body: { ok: true, released: 1 } }
  }

  function open(uid: string): void {
    const before = panes.get(uid)
    if (before !== undefined) {
      before.wanted = true
      return
    }
    const pane: Pane = { uid, block: `older-${++blocks}`, wanted: true, record: undefined, stop: undefined }
    panes.set(uid, pane)
    void run(pane)
  }

  async function takeOver(uid: string): Promise<void> {
    holds.delete(uid)
    const record = leases.read(uid)
    const other = system.others().find(({ pid }) => pid === record?.pid)
    if (other !== undefined) {
      const body = {
        uid,
        requested_by_channel: config.channel,
        requested_by_version: config.version
      }
      await system.ask(other.pid, { path: '/agentmux/agent/release', body }, 30_000)
    }
    open(uid)
  }

  system.answer((question) => letGo(question))
  Object.assign(system.orders, {
    open,
    close: (uid: string) => {
      const pane = panes.get(uid)
      if (pane !== undefined) pane.wanted = false
    },
    takeOver: (uid: string) => {
      takeOver(uid).catch((fault) => system.tell({ kind: 'note', text: `take-over: ${String(fault)}` }))
    }
  })
}

/**
 * The LAN as a daemon sees it: the real tier and re-check, and what it answers to others. Put together as apps/srv does, without
 * what is in the way of it there: sockets, discovery, logs.
 */
import { type HostAdmission, localHolding, localHoldings } from '@agentmux/host-admission'
import { LanHoldings, LanRecheck, LanTier } from '@agentmux/lan-tier'
import type { Clock } from '@agentmux/lease-model'
import type { NetworkRequest, NetworkResponse, System } from './system.js'

export interface LanLinkPorts {
  readonly clock: Clock
  readonly admission: HostAdmission
  /** Another computer has the agent, and keeps it. */
  readonly giveUp: (uid: string) => void
}

export function lanLink(
  system: System,
  { clock, admission, giveUp }: LanLinkPorts
): { tier: LanTier; recheck: LanRecheck } {
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
    ask: async (questions, signal) => {
      const fromUs = system.nowUs()
      const looks = await holdings.ask(questions, signal)
      for (const { uid, peers } of questions) {
        const look = looks.get(uid)
        if (look === undefined) continue
        system.tell({
          kind: 'looks',
          uid,
          fromUs,
          atEverybody: peers === undefined,
          again: look.silent.some(({ why }) => why === 'timed-out' || why === 'broken'),
          seen: look.holders.map(({ claim }) => claim)
        })
      }
      return looks
    },
    clock,
    onYield: (uid, holder) => {
      system.tell({ kind: 'yields', uid, to: holder.hostname, by: 'lan', claim: holder.claim })
      giveUp(uid)
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

/** `status`: every lease on this host, and for whom agents are kept. It only looks: no lock, no file of its own, never blocked (R6). */
import { type KeptAgent, keptAgents } from '@agentmux/host-admission'
import { LeaseFault, LeaseStore, type ListedLease } from '@agentmux/lease-store'
import { EXIT_CODES, heldForText, plainText } from '@agentmux/refusals'
import { type CommonFlags, compose } from './compose.js'
import { keptForText } from './kept-for-text.js'
import { print } from './output.js'
import { fail } from './report.js'
import { printTable } from './table.js'

const COLUMNS = ['AGENT', 'STATE', 'HOLDER', 'SINCE', 'EPOCH'] as const

export function status(flags: CommonFlags): number {
  const { registryRoot, instance, clock } = compose(flags, process.env)
  const store = LeaseStore.open(registryRoot, { instance, clock })
  let leases: ListedLease[]
  let kept: KeptAgent[]
  try {
    leases = store.list()
    kept = keptAgents(store)
  } catch (fault) {
    if (!(fault instanceof LeaseFault)) throw fault
    return fail(flags, EXIT_CODES.couldNotFindOut, fault.message)
  }
  if (flags.json) {
    print(JSON.stringify({ folder: store.folder, leases, kept }, undefined, 2))
    return 0
  }
  if (leases.length === 0 && kept.length === 0) {
    print(`No agent is held on this host (${store.folder}).`)
    return 0
  }
  const nowMs = clock.wallMs()
  const rows = [...leases.map((lease) => rowOf(lease, nowMs)), ...kept.map(keptRow)]
  // An agent's lease first: sorting keeps the order of equals.
  printTable(
    COLUMNS,
    rows.sort(([one = ''], [other = '']) => (one < other ? -1 : one > other ? 1 : 0))
  )
  return 0
}

function rowOf(lease: ListedLease, nowMs: number): string[] {
  const { holder } = lease
  const since = heldForText(holder.acquiredAtMs, nowMs) ?? ''
  return [
    plainText(lease.uid, 64),
    lease.state,
    holderOf(lease),
    since,
    holder.epoch > 0 ? String(holder.epoch) : ''
  ]
}

/** Whoever drives it now, if anybody, has a row of its own. */
function keptRow(kept: KeptAgent): string[] {
  return [plainText(kept.uid, 64), 'kept', keptForText(kept), '', '']
}

function holderOf({ state, holder, driverPid, path }: ListedLease): string {
  if (state === 'unreadable') return `unknown: ${plainText(path, 200)} cannot be read`
  const parts = [
    plainText(holder.hostname, 64),
    holder.channel === '' ? '' : `channel ${plainText(holder.channel, 32)}`,
    holder.version === '' ? '' : `v${plainText(holder.version, 32)}`,
    holder.pid > 0 ? `pid ${holder.pid}` : '',
    driverPid > 0 ? `child ${driverPid}` : ''
  ]
  return parts.filter((part) => part !== '').join(', ')
}

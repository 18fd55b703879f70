/** `status`: every lease on this host. It only looks: no lock, no file of its own, never blocked (R6). */
import { LeaseFault, LeaseStore, type ListedLease } from '@agentmux/lease-store'
import { EXIT_CODES, heldForText, plainText } from '@agentmux/refusals'
import { type CommonFlags, compose } from './compose.js'
import { print } from './output.js'
import { fail } from './report.js'
import { printTable } from './table.js'

const COLUMNS = ['AGENT', 'STATE', 'HOLDER', 'SINCE', 'EPOCH'] as const

export function status(flags: CommonFlags): number {
  const { registryRoot, instance, clock } = compose(flags, process.env)
  const store = LeaseStore.open(registryRoot, { instance, clock })
  let leases: ListedLease[]
  try {
    leases = store.list()
  } catch (fault) {
    if (!(fault instanceof LeaseFault)) throw fault
    return fail(flags, EXIT_CODES.couldNotFindOut, fault.message)
  }
  if (flags.json) {
    print(JSON.stringify({ folder: store.folder, leases }, undefined, 2))
    return 0
  }
  if (leases.length === 0) {
    print(`No agent is held on this host (${store.folder}).`)
    return 0
  }
  const nowMs = clock.wallMs()
  printTable(
    COLUMNS,
    leases.map((lease) => rowOf(lease, nowMs))
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

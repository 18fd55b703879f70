/** `leases`: every agent that was ever claimed. It only looks. */
import { plainText } from '@agentmux/refusals'
import type { CommonFlags } from './commands/common-flags.js'
import { EXIT } from './exit-codes.js'
import { isExpected } from './is-expected.js'
import { type LookedAtStore, openStoreBeside } from './open-store.js'
import { print } from './output.js'
import { fail } from './report.js'
import type { ListedAgent } from './store/relay-store.js'
import { printTable } from './table.js'

const COLUMNS = ['ACCOUNT', 'AGENT', 'STATE', 'HOLDER', 'SINCE', 'EPOCH'] as const
const MAX_NAME = 64

export interface LeasesFlags extends CommonFlags {
  readonly account?: string | undefined
}

export async function listLeases(flags: LeasesFlags): Promise<number> {
  let store: LookedAtStore | undefined
  try {
    store = await openStoreBeside(flags)
    const agents: ListedAgent[] = []
    for await (const agent of store.list()) {
      if (flags.account === undefined || agent.account === flags.account) agents.push(agent)
    }
    if (flags.json) print(JSON.stringify({ leases: agents.map(leaseJson) }, undefined, 2))
    else if (agents.length === 0) print('No agent was ever claimed.')
    else printTable(COLUMNS, agents.map(rowOf))
    return EXIT.ok
  } catch (error) {
    if (!isExpected(error)) throw error
    return fail(flags, EXIT.unavailable, error.message)
  } finally {
    await store?.close()
  }
}

function leaseJson({ account, agent, state, holder }: ListedAgent) {
  const { instance, host, channel, version, epoch, acquiredAtMs } = holder
  return { account, agent, state, instance, host, channel, version, epoch, acquired_at: acquiredAtMs }
}

function rowOf({ account, agent, state, holder }: ListedAgent): string[] {
  const parts = [
    plainText(holder.host, MAX_NAME) || plainText(holder.instance, MAX_NAME),
    holder.channel === '' ? '' : `channel ${plainText(holder.channel, MAX_NAME)}`,
    holder.version === '' ? '' : `v${plainText(holder.version, MAX_NAME)}`
  ]
  return [
    account,
    plainText(agent, MAX_NAME),
    state,
    parts.filter((part) => part !== '').join(', '),
    new Date(holder.acquiredAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    String(holder.epoch)
  ]
}

/** Reads of what is known of an agent, in one transaction, so that the parts belong together. */
import type { ICompare, IKeyValue } from 'etcd3'
import type { AgentKey } from '../../model/agent-key.js'
import type { AgentRecord, Seen } from '../../model/agent-record.js'
import type { EtcdClient } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import { found, isAbsent, isUnchanged, read, valueIn } from './txn-parts.js'

export interface SeenInEtcd extends Seen {
  /** The lease of etcd that keeps it alive; undefined if it is only kept by the grace. */
  readonly lease: string | undefined
  /** What must not have changed when something is written that was decided on this. */
  readonly unchanged: readonly ICompare[]
}

/** With more keys in the same read, whose values come after. */
export interface SeenWith {
  readonly seen: SeenInEtcd
  readonly others: readonly (IKeyValue | undefined)[]
}

export async function seeAgent(
  etcd: EtcdClient,
  key: AgentKey,
  others: readonly string[] = []
): Promise<SeenWith> {
  const keys = [KEYS.record(key), KEYS.live(key), KEYS.grace, ...others]
  const [record, live, grace, ...rest] = found(await etcd.txn({ compare: [], success: keys.map(read) }))
  return { seen: seenFrom(key, { record, live, grace }), others: rest }
}

/** What etcd takes in one transaction, by default, is 128; two keys for each agent, and one for all. */
export const AGENTS_IN_A_READ = 60

/** Of at most AGENTS_IN_A_READ agents, in their order. */
export async function seeAgents(etcd: EtcdClient, keys: readonly AgentKey[]): Promise<SeenInEtcd[]> {
  const reads = [KEYS.grace, ...keys.flatMap((key) => [KEYS.record(key), KEYS.live(key)])]
  const [grace, ...parts] = found(await etcd.txn({ compare: [], success: reads.map(read) }))
  return keys.map((key, index) => {
    const [record, live] = [parts[2 * index], parts[2 * index + 1]]
    return seenFrom(key, { record, live, grace })
  })
}

interface Parts {
  readonly record: IKeyValue | undefined
  readonly live: IKeyValue | undefined
  readonly grace: IKeyValue | undefined
}

function seenFrom(key: AgentKey, { record, live, grace }: Parts): SeenInEtcd {
  const known = record === undefined ? undefined : valueIn<AgentRecord>(record)
  const inGrace = live === undefined && grace !== undefined && known?.state === 'held'
  return {
    record: known,
    live: live !== undefined || inGrace,
    lease: live?.lease,
    unchanged: [
      isUnchanged(KEYS.record(key), record),
      isUnchanged(KEYS.live(key), live),
      // A holder that nobody keeps alive is passed over only outside of the grace.
      ...(known?.state === 'held' && live === undefined && grace === undefined ? [isAbsent(KEYS.grace)] : [])
    ]
  }
}

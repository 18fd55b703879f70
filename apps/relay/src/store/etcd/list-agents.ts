/** Every agent that was ever claimed, in pages. */
import type { AgentRecord } from '../../model/agent-record.js'
import type { ListedAgent } from '../relay-store.js'
import type { EtcdClient } from './etcd-client.js'
import { agentIn, KEYS } from './etcd-keys.js'
import { found, read, valueIn } from './txn-parts.js'

const PAGE = 100

export async function* listAgents(etcd: EtcdClient): AsyncGenerator<ListedAgent> {
  const prefix = KEYS.records()
  const inGrace = (await etcd.get(KEYS.grace)) !== undefined
  for (let after = prefix; ; ) {
    const records = await etcd.page(prefix, { limit: PAGE, after })
    const keys = records.map(({ key }) => agentIn(key.toString()))
    const lives = found(await etcd.txn({ compare: [], success: keys.map((key) => read(KEYS.live(key))) }))
    for (const [index, kv] of records.entries()) {
      const { holder, state } = valueIn<AgentRecord>(kv)
      const lapsed = state === 'held' && lives[index] === undefined && !inGrace
      yield { ...agentIn(kv.key.toString()), state: lapsed ? 'lapsed' : state, holder }
    }
    const last = records.at(-1)
    if (last === undefined || records.length < PAGE) return
    after = last.key.toString()
  }
}

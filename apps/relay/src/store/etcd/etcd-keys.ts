/** The keys in etcd. Names are percent-encoded, so that no name reaches into another's keys. */
import type { AgentKey } from '../../model/agent-key.js'

const ROOT = '/agentmux/relay/v1'

const at = ({ account, agent }: AgentKey) => `${account}/${encodeURIComponent(agent)}`

export const KEYS = Object.freeze({
  /** The record of an agent: without a lease, so that its epoch outlives everything. */
  record: (key: AgentKey) => `${ROOT}/agent/${at(key)}`,
  records: (account?: string) => `${ROOT}/agent/${account === undefined ? '' : `${account}/`}`,
  /** There for as long as the lease of etcd that it hangs on is kept alive. */
  live: (key: AgentKey) => `${ROOT}/live/${at(key)}`,
  lives: `${ROOT}/live/`,
  /** There for one TTL after a time in which no relay served. */
  grace: `${ROOT}/grace`,
  serving: (relay: string) => `${ROOT}/serving/${relay}`,
  servings: `${ROOT}/serving/`,
  queued: (key: AgentKey, id: string) => `${ROOT}/queued/${at(key)}/${id}`,
  queue: (key: AgentKey) => `${ROOT}/queued/${at(key)}/`,
  queues: `${ROOT}/queued/`,
  won: (key: AgentKey, id: string) => `${ROOT}/won/${at(key)}/${id}`,
  injected: (key: AgentKey, call: string) => `${ROOT}/injected/${at(key)}/${encodeURIComponent(call)}`,
  token: (hash: string) => `${ROOT}/token/${hash}`,
  tokens: `${ROOT}/token/`
})

/** The agent in a key of a record, a live one or a queued message. */
export function agentIn(key: string): AgentKey {
  const [, , , , , account = '', agent = ''] = key.split('/')
  return { account, agent: decodeURIComponent(agent) }
}

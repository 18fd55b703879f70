/** Many agents that are held already, written straight into a store: what they cost in memory can be seen only with many. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { builtFile } from '../measuring/packages.mjs'
import { holder } from './relay-client.mjs'

const us = holder('bench')
const ROOT = '/agentmux/relay/v1'
const ETCD_TTL_S = 600
const AT_ONCE = 64

export const seededAgent = (index) => `seeded-${index}`

/** Into the database of a relay that does not run, and has been used before. */
export function seedSqlite(dataFolder, count) {
  const load = createRequire(builtFile('apps/relay/package.json'))
  const Database = load('better-sqlite3')
  const database = new Database(join(dataFolder, 'relay.db'))
  const insert = database.prepare(
    `INSERT INTO agents (account, agent, epoch, state, instance, install, host, channel, version, acquired_at_ms, takes)
     VALUES ('bench', @agent, 1, 'held', @instance, @install, @host, @channel, @version, @now, '[]')`
  )
  const now = Date.now()
  database.transaction(() => {
    for (let index = 0; index < count; index++) insert.run({ ...us, agent: seededAgent(index), now })
  })()
  database.close()
}

/** Through the JSON gateway of the members, as the relay writes them: a record, and a live key on a lease of its own. */
export async function seedEtcd(urls, count) {
  let next = 0
  const seed = async () => {
    while (next < count) {
      const index = next++
      const url = urls[index % urls.length]
      const { ID } = await call(url, '/v3/lease/grant', { TTL: ETCD_TTL_S })
      const live = { ...us, epoch: 1, acquiredAtMs: Date.now() }
      const at = `bench/${seededAgent(index)}`
      const puts = [
        put(`${ROOT}/agent/${at}`, { holder: live, state: 'held', takes: [] }),
        put(`${ROOT}/live/${at}`, live, ID)
      ]
      await call(url, '/v3/kv/txn', { success: puts })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, seed))
}

function put(key, value, lease) {
  const request = { key: base64(key), value: base64(JSON.stringify(value)) }
  return { request_put: lease === undefined ? request : { ...request, lease } }
}

async function call(url, path, body) {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`)
  return response.json()
}

function base64(text) {
  return Buffer.from(text).toString('base64')
}

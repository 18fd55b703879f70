/** Built relays on a cluster of etcd: what the commands do there, and what happens when members go. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { EtcdCluster } from '../../../bench/relay/etcd-cluster.mjs'
import { Client } from './harness/client.js'
import { newToken, RelayProcess, relay } from './harness/relay-process.js'
import { until } from './harness/until.js'
import { WakeReader } from './harness/wake-reader.js'

let cluster: EtcdCluster
let store: string[]
const running: RelayProcess[] = []
beforeAll(async () => {
  cluster = await EtcdCluster.start(3)
  store = ['--etcd', cluster.urls.join(',')]
})
afterAll(() => cluster?.stop())
afterEach(async () => {
  for (const one of running.splice(0)) await one.end('SIGKILL')
})

async function start(): Promise<RelayProcess> {
  const started = await RelayProcess.start([...store, '--port', '0'])
  running.push(started)
  return started
}

test('two relays serve the same accounts: leases, take-overs, messages and wakes cross between them', async () => {
  const token = newToken(store)
  const [one, two] = [await start(), await start()]
  const anna = new Client(one.url, { token })
  const ben = new Client(two.url, { token, install: 'install-b' })
  expect(await anna.claim('agent3')).toMatchObject({ status: 200, json: { epoch: 1 } })
  expect(await ben.claim('agent3')).toMatchObject({ status: 409, json: { held_by: { host: 'mill' } } })
  const reader = await WakeReader.open(two.url, token)
  await reader.next()
  expect(await ben.take('agent3')).toMatchObject({ status: 200, json: { epoch: 2 } })
  expect(await anna.renew('agent3')).toMatchObject({ status: 409 })
  const { injection_id } = (await anna.inject('agent3', 'hello')).json
  expect(await reader.next()).toEqual({ event: 'wake', data: { agent_id: 'agent3' } })
  expect((await ben.pending('agent3')).json.injections).toMatchObject([{ id: injection_id }])
  await reader.close()
  expect(JSON.parse(relay(['leases', ...store, '--account', 'acme', '--json']).stdout).leases).toContainEqual(
    expect.objectContaining({ agent: 'agent3', state: 'held', epoch: 2 })
  )
})

test('a revoked token is turned away within seconds', async () => {
  const added = JSON.parse(relay(['token', 'add', '--account', 'acme', ...store, '--json']).stdout)
  const one = await start()
  const client = new Client(one.url, { token: added.token })
  expect(await client.look('agent3')).toMatchObject({ status: 200 })
  expect(relay(['token', 'revoke', added.id, ...store]).code).toBe(0)
  await until('it is turned away', async () => (await client.look('agent3')).status === 401)
  expect(relay(['token', 'list', ...store]).stdout).not.toContain(added.id)
})

test('a relay that is killed and started again knows everything; the holder renews under the same epoch', async () => {
  const token = newToken(store)
  const first = await start()
  const anna = new Client(first.url, { token })
  await anna.claim('agent5')
  await first.end('SIGKILL')
  const second = await start()
  const again = new Client(second.url, { token })
  const ben = new Client(second.url, { token, install: 'install-b' })
  expect(await ben.claim('agent5')).toMatchObject({ status: 409 })
  expect(await again.renew('agent5')).toMatchObject({ status: 200, json: { epoch: 1 } })
})

test('with one member gone all goes on, batches too; with two gone everything is 503, and back as before', async () => {
  const token = newToken(store)
  const one = await start()
  const anna = new Client(one.url, { token })
  const agents = Array.from({ length: 60 }, (_, index) => `many-${index}`)
  await Promise.all(agents.map((agent) => anna.claim(agent)))
  const renewedAll = async () => {
    const { status, json } = await anna.renewAll(agents)
    return status === 200 && json.results.every(({ ok }: { ok: boolean }) => ok)
  }
  expect(await renewedAll()).toBe(true)
  cluster.freeze(0)
  await until('all are renewed without the first member', renewedAll)
  const seen = JSON.parse(relay(['doctor', ...store, '--port', '0', '--json']).stdout)
  expect(seen.checks).toContainEqual(expect.objectContaining({ name: 'etcd', level: 'warn' }))
  cluster.freeze(1)
  const answers = await Promise.all([anna.claim('agent9'), anna.renewAll(agents), anna.pending('many-1')])
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503 })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await fetch(`${one.url}/ready`)).status).toBe(503)
  expect((await fetch(`${one.url}/health`)).status).toBe(200)
  expect(relay(['doctor', ...store, '--port', '0']).code).toBe(69)
  expect(relay(['serve', ...store, '--port', '0'])).toMatchObject({
    code: 69,
    stderr: expect.stringContaining('could not be started')
  })
  cluster.thaw(0)
  cluster.thaw(1)
  await until('all are renewed again', renewedAll)
  const { json } = await anna.renewAll(agents)
  expect(new Set(json.results.map(({ epoch }: { epoch: number }) => epoch))).toEqual(new Set([1]))
})

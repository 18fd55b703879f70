/**
 * A simple deliverer: takes agents now and then, holds what it has, pulls, acks one message at a time, and delivers it by a line
 * in a file, or, where that fails, as it does now and then, gives it back. `asked` is written before the ack is sent, because whoever is killed after it cannot write any more.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { holder, RelayClient } from '../relay/relay-client.mjs'

const [url, token, name, log, agentList] = process.argv.slice(2)
const agents = agentList.split(',')
const us = holder(name)
const client = new RelayClient(url, token, agents.length)
const file = openSync(log, 'a')
const TAKE_SHARE = 0.1
const FAIL_SHARE = 0.02
/** Whoever holds an agent looks often, whoever does not seldom: the asking alone must not be the load. */
const HOLDER_PAUSE_MS = 50
const OTHER_PAUSE_MS = 500
const RETRY_MS = 50

let ending = false
process.once('SIGTERM', () => {
  ending = true
})

const say = (line) => writeSync(file, `${process.pid} ${line}\n`)
const headersFor = (agent, key) => ({
  'x-agent-id': agent,
  'x-agent-instance': us.instance,
  'x-agent-install': us.install,
  ...(key === undefined ? {} : { 'idempotency-key': key })
})

/** Asks until there is an answer: whether an ack has won must be known. */
async function answered(ask) {
  for (;;) {
    const answer = await ask()
    if (answer.status === 200 || answer.status === 409) return answer
    await sleep(RETRY_MS)
  }
}

async function deliverAll(agent) {
  for (;;) {
    const { status, json } = await client.ask('GET', `/reactive/pending/${agent}`, {
      headers: headersFor(agent)
    })
    if (status !== 200 || json.injections.length === 0) return
    for (const { id, message } of json.injections) {
      const headers = headersFor(agent, randomUUID())
      say(`asked ${message}`)
      const acked = await answered(() => client.post('/reactive/ack', { injection_ids: [id] }, headers))
      const isOurs = acked.status === 200 && acked.json.acknowledged.includes(id)
      if (isOurs && Math.random() < FAIL_SHARE) {
        const back = { injection_id: id, delivered_at: Date.now() }
        const again = headersFor(agent, randomUUID())
        await answered(() => client.post('/reactive/release', back, again))
        say(`returned ${message}`)
      } else say(`${isOurs ? 'delivered' : 'left'} ${message}`)
      if (acked.status !== 200) return
    }
  }
}

async function serve(agent) {
  while (!ending) {
    const lease = { agent_id: agent, ...us }
    let { status } = await client.post('/agents/lease', lease)
    if (status === 409 && Math.random() < TAKE_SHARE) {
      ;({ status } = await client.post('/agents/lease/take', lease, { 'idempotency-key': randomUUID() }))
      if (status === 200) say(`took ${agent}`)
    }
    if (status === 200) await deliverAll(agent)
    const pauseMs = status === 200 ? HOLDER_PAUSE_MS : OTHER_PAUSE_MS
    await sleep(pauseMs * (0.5 + Math.random()))
  }
}

await Promise.all(agents.map(serve))
closeSync(file)
process.exit()

/** A relay that restarts under a hundred clients: they come back spread, after the pause that it asks for, and lose nothing. */
import { createManualClock } from '@agentmux/lease-model/testing'
import { expect, it, onTestFinished } from 'vitest'
import { PendingMessages, RelayTick, WanClient } from '../src/index.js'
import { IDENTITY, TOKEN } from './scene.js'
import { json, type Script, scriptedRelay, until } from './scripted-relay.js'

const CLIENTS = 100
const STEP_MS = 100
const TTL_MS = 60_000
const PAUSE_MS = 5_000
const SWALLOWED_MS = 1_000
/** All within three steps would be a storm; evenly, there are five in a step. */
const MOST_IN_A_STEP = 25

let answered = 0
const counted =
  (script: Script): Script =>
  (asked, response) => {
    script(asked, response)
    answered += 1
  }

const granting = counted(({ path, body }, response) => {
  if (path === '/reactive/wake') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: ready\ndata: {}\n\n')
  } else if (path.endsWith('/renew-batch')) {
    const results = body.agents.map((agent_id: string) => ({ agent_id, ok: true, epoch: 1 }))
    json(response, 200, { results })
  } else if (path.startsWith('/reactive/pending/')) json(response, 200, { injections: [] })
  else json(response, 200, { ok: true, epoch: 1 })
})
const restarting = counted((_, response) =>
  json(response, 503, { error: 'closing' }, { 'retry-after': String(PAUSE_MS / 1_000) })
)

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

it('spreads a hundred clients, which honour Retry-After and keep and renew what they hold', async () => {
  const relay = await scriptedRelay(granting)
  const clock = createManualClock()
  const random = numbers(7)
  // When each client sent something. */
  const sent = Array.from({ length: CLIENTS }, (): number[] => [])
  const elsewhere: string[] = []
  const faults: unknown[] = []
  const clients = sent.map((times, index) => {
    const agent = `agent-${index}`
    const token = () => {
      times.push(clock.bootMs())
      return TOKEN
    }
    const identity = { ...IDENTITY, host: `host-${index}` }
    const client = new WanClient({ url: relay.url, identity, token }, { clock, env: {}, random })
    const tick = new RelayTick({
      client,
      liveAgents: () => [agent],
      onHeldElsewhere: (name) => elsewhere.push(name),
      onFault: (fault) => faults.push(fault)
    })
    const messages = new PendingMessages({
      client,
      liveAgents: () => [agent],
      isLive: () => true,
      deliver: async () => true,
      onNotHolder: (name) => elsewhere.push(name),
      onFault: (fault) => faults.push(fault)
    })
    return { agent, client, tick, messages }
  })
  onTestFinished(async () => {
    await Promise.all(clients.map(({ tick, messages }) => Promise.all([tick.stop(), messages.stop()])))
    await Promise.all(clients.map(({ client }) => client.close()))
    await relay.close()
  })
  const isHeld = () => clients.every(({ agent, client }) => client.leases.isHeld(agent))
  const sentInAll = () => sent.reduce((sum, times) => sum + times.length, 0)
  /** Time goes on once what was sent is answered; what a broken connection swallowed never is. */
  const step = async () => {
    await clock.advance(STEP_MS)
    const giveUpMs = performance.now() + SWALLOWED_MS
    await until(() => answered >= sentInAll() || performance.now() > giveUpMs)
    if (answered < sentInAll()) answered = sentInAll()
    await Promise.all(clients.map(({ tick, messages }) => Promise.all([tick.idle(), messages.idle()])))
  }

  for (const { tick, messages } of clients) {
    tick.start()
    messages.start()
  }
  for (let ms = 0; ms <= 20_000; ms += STEP_MS) await step()
  await until(isHeld)

  relay.script(restarting)
  for (const socket of relay.sockets) socket.destroy()
  const restartedMs = clock.bootMs()
  const askedBefore = relay.asked.length
  const paused = () => clients.filter(({ client }) => client.pausedForMs() > 0).length
  while (paused() < CLIENTS / 2 && clock.bootMs() < restartedMs + PAUSE_MS) await step()
  expect(paused()).toBeGreaterThanOrEqual(CLIENTS / 2)
  const pausedAt = clients.map(({ client }) => (client.pausedForMs() > 0 ? clock.bootMs() : undefined))
  const pauseEnds = clients.map(({ client }) => clock.bootMs() + client.pausedForMs())
  relay.script(granting)
  while (clock.bootMs() < restartedMs + TTL_MS - 20_000) {
    await step()
    expect(isHeld()).toBe(true)
  }

  expect([elsewhere, faults]).toEqual([[], []])
  const steps = new Map<number, number>()
  for (const [index, times] of sent.entries()) {
    const after = times.filter((ms) => ms > restartedMs)
    for (const ms of after)
      steps.set(Math.floor(ms / STEP_MS), (steps.get(Math.floor(ms / STEP_MS)) ?? 0) + 1)
    const from = pausedAt[index]
    const early = after.filter((ms) => from !== undefined && ms > from && ms < (pauseEnds[index] ?? 0))
    expect(early).toEqual([])
  }
  expect(Math.max(...steps.values())).toBeLessThanOrEqual(MOST_IN_A_STEP)
  // Everyone's lease was renewed before it could lapse.
  const renewed = new Set(
    relay.asked
      .slice(askedBefore)
      .filter(({ path }) => path.endsWith('/renew-batch'))
      .map(({ body }) => body.agents[0])
  )
  expect(renewed.size).toBe(CLIENTS)
})

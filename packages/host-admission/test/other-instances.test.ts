import { getEventListeners } from 'node:events'
import { createSystemClock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InstanceClient } from '../src/instance/instance-client.js'
import { OtherInstances } from '../src/reactive/other-instances.js'
import { ReactiveRegistry } from '../src/reactive/reactive-registry.js'
import {
  anotherProcess,
  entry,
  host,
  publish,
  send,
  serve,
  serveAnswer,
  sharedRoot
} from './another-instance.js'

function othersIn(root: string, clock = createSystemClock()): OtherInstances {
  const registry = new ReactiveRegistry(root, { clock, host })
  onTestFinished(() => registry.close())
  return new OtherInstances({ registry, client: new InstanceClient({ clock }), hostname: 'mill' })
}

/** An older build: it runs an agent, says so, and keeps no lease. */
async function olderBuild(root: string, agents: unknown, name = 'ada/stable.json') {
  const { url, seen } = await serveAnswer(200, agents)
  const { pid } = anotherProcess()
  publish(root, name, entry({ pid, local_url: url, channel: 'stable' }))
  return { url, pid, seen }
}

describe('probing the other instances', () => {
  test('finds an agent that an older build runs without a lease', async () => {
    const root = sharedRoot()
    const { pid, url, seen } = await olderBuild(root, [
      { agent_id: 'Ada', block_id: 'b-7', uid: 'u-1', registered_at: 1_700_000_000_000 }
    ])
    const probe = await othersIn(root).probeOtherInstances('u-1')
    expect(probe).toMatchObject({
      kind: 'held',
      endpoint: { url, pid },
      holder: {
        place: 'this-host',
        hostname: 'mill',
        channel: 'stable',
        version: '',
        pid,
        acquiredAtMs: 1_700_000_000_000,
        epoch: 0,
        blockId: 'b-7'
      }
    })
    expect(seen.map(({ key }) => key)).toEqual(['their-key'])
  })

  test.each([' U-1 ', 'u-1\n', 'U-1'])('a UID is the same trimmed and in any ASCII case: %j', async (uid) => {
    const root = sharedRoot()
    await olderBuild(root, [{ agent_id: 'Ada', uid }])
    expect((await othersIn(root).probeOtherInstances('u-1')).kind).toBe('held')
  })

  test.each([
    ['the same name and another UID', 'u-1', { agent_id: 'u-1', uid: 'u-2' }],
    ['a name that is the UID, without a UID', 'u-1', { agent_id: 'u-1', block_id: 'u-1' }],
    ['a UID that only begins like it', 'u-1', { agent_id: 'Ada', uid: 'u-11' }],
    ['a UID that differs in a letter outside ASCII', 'ü', { agent_id: 'Ada', uid: 'Ü' }]
  ])('%s is not the agent', async (_name, uid, registration) => {
    const root = sharedRoot()
    await olderBuild(root, [registration])
    expect(await othersIn(root).probeOtherInstances(uid)).toEqual({ kind: 'nobody', silent: [] })
  })

  test('those that do not answer, or not as they should, are no evidence, and are told', async () => {
    const root = sharedRoot()
    const { pid } = anotherProcess()
    const answers: [string, number, unknown][] = [
      ['redirects', 302, ''],
      ['too old', 404, ''],
      ['wrong key', 401, { error: 'unauthorized' }],
      ['no list', 200, { uid: 'u-1' }],
      ['huge', 200, JSON.stringify([{ uid: 'u-1', noise: 'x'.repeat(5_000_000) }])]
    ]
    for (const [channel, status, body] of answers) {
      const { url } = await serveAnswer(status, body, { location: 'http://127.0.0.1:1/' })
      publish(root, `ada/${channel}.json`, entry({ pid, channel, local_url: url }))
    }
    publish(root, 'ada/closed.json', entry({ pid, channel: 'closed', local_url: 'http://127.0.0.1:1' }))
    publish(root, 'ada/far.json', entry({ pid, channel: 'far', local_url: 'http://192.0.2.1:80' }))
    const probe = await othersIn(root).probeOtherInstances('u-1')
    if (probe.kind !== 'nobody') throw new Error('held')
    expect(Object.fromEntries(probe.silent.map(({ endpoint, why }) => [endpoint.channel, why]))).toEqual({
      redirects: 'its answer makes no sense (302)',
      'too old': 'it does not know the question (404)',
      'wrong key': 'it does not accept its key (401)',
      'no list': 'its answer makes no sense (200)',
      huge: 'its answer is too large',
      closed: 'nothing listens there'
    })
  })

  test('one request goes to an instance of many agents, and none to ourselves', async () => {
    const root = sharedRoot()
    const { url, seen } = await serveAnswer(200, [])
    const { pid } = anotherProcess()
    for (const name of ['ada', 'bob', 'eve'])
      publish(root, `${name}/stable.json`, entry({ pid, local_url: url }))
    const us = await serveAnswer(200, [{ uid: 'u-1' }])
    publish(root, 'ours/stable.json', entry({ local_url: us.url }))
    expect((await othersIn(root).probeOtherInstances('u-1')).kind).toBe('nobody')
    expect(seen.length).toBe(1)
    expect(us.seen).toEqual([])
  })

  test('all are asked at once, and the first that holds the agent ends it', async () => {
    const root = sharedRoot()
    const { pid } = anotherProcess()
    const waiting = new Set<object>()
    let tellHolder = () => {}
    const quiet = 20
    const onArrival = () => {
      if (waiting.size === quiet + 1) tellHolder()
    }
    let hungUp = 0
    let allHungUp = () => {}
    const over = new Promise<void>((resolve) => {
      allHungUp = resolve
    })
    for (let index = 0; index < quiet; index++) {
      const url = await serve((request) => {
        waiting.add(request)
        request.socket.on('close', () => {
          if (++hungUp === quiet) allHungUp()
        })
        onArrival()
      })
      publish(root, `ada/quiet-${index}.json`, entry({ pid, local_url: url }))
    }
    const url = await serve((request, response) => {
      waiting.add(request)
      // Only once every other one has been asked.
      tellHolder = () => send(response, 200, '[{"uid":"u-1"}]')
      onArrival()
    })
    publish(root, 'ada/holder.json', entry({ pid, local_url: url }))
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => {
      process.off('warning', onWarning)
    })
    const clock = createManualClock({ wallMs: Date.now() })
    const controller = new AbortController()
    const probe = await othersIn(root, clock).probeOtherInstances('u-1', controller.signal)
    expect(probe.kind).toBe('held')
    await over
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    expect(warnings).toEqual([])
  })

  test('slow ones cost 1,500 ms together, not each', async () => {
    const root = sharedRoot()
    const { pid } = anotherProcess()
    let arrived = () => {}
    const asked = new Promise<void>((resolve) => {
      let count = 0
      arrived = () => {
        if (++count === 3) resolve()
      }
    })
    for (const name of ['a', 'b', 'c']) {
      publish(root, `${name}/stable.json`, entry({ pid, local_url: await serve(() => arrived()) }))
    }
    const clock = createManualClock({ wallMs: Date.now() })
    const probe = othersIn(root, clock).probeOtherInstances('u-1')
    await asked
    await clock.advance(1_500)
    const result = await probe
    expect(result.kind === 'nobody' && result.silent.map(({ why }) => why)).toEqual(
      Array(3).fill('no answer in time')
    )
  })

  test('an abort ends it with its reason', async () => {
    const root = sharedRoot()
    const { pid } = anotherProcess()
    const controller = new AbortController()
    const url = await serve(() => controller.abort(new Error('enough')))
    publish(root, 'ada/stable.json', entry({ pid, local_url: url }))
    await expect(othersIn(root).probeOtherInstances('u-1', controller.signal)).rejects.toThrow('enough')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('the endpoints of a holder', () => {
  test('its own process comes before others of its channel, the one heard of last before the rest', () => {
    const root = sharedRoot()
    const [first, second, third] = [anotherProcess().pid, anotherProcess().pid, anotherProcess().pid]
    const now = Date.now()
    const at = (port: number) => `http://127.0.0.1:${port}`
    publish(root, 'a/x.json', entry({ pid: first, channel: 'stable', local_url: at(1), updated_at: now - 3 }))
    publish(
      root,
      'b/x.json',
      entry({ pid: second, channel: 'stable', local_url: at(2), updated_at: now - 2 })
    )
    publish(
      root,
      'c/x.json',
      entry({ pid: second, channel: 'stable', local_url: at(2), updated_at: now - 1 })
    )
    publish(root, 'd/x.json', entry({ pid: third, channel: 'nightly', local_url: at(3), updated_at: now }))
    const others = othersIn(root)
    const urls = (holder: { pid: number; channel: string }) =>
      others.endpointsOf(holder).map(({ url }) => url)
    expect(urls({ pid: first, channel: 'stable' })).toEqual([at(1), at(2)])
    expect(urls({ pid: second, channel: 'stable' })).toEqual([at(2), at(1)])
    expect(urls({ pid: third, channel: '' })).toEqual([at(3)])
    expect(urls({ pid: 0, channel: 'stable' })).toEqual([at(2), at(1)])
    expect(urls({ pid: 0, channel: '' })).toEqual([])
    expect(others.endpointForChannel('nightly')?.url).toBe(at(3))
    expect(others.endpointForChannel('Nightly')).toBeUndefined()
  })

  test('an instance whose address is not on loopback is nobody to ask', () => {
    const root = sharedRoot()
    publish(root, 'a/x.json', entry({ pid: anotherProcess().pid, local_url: 'http://192.0.2.1:80' }))
    expect(othersIn(root).endpointForChannel('nightly')).toBeUndefined()
  })
})

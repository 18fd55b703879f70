import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createSystemClock } from '@agentmux/lease-model'
import type { LeaseStore } from '@agentmux/lease-store'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InstanceClient } from '../src/instance/instance-client.js'
import { OtherInstances } from '../src/reactive/other-instances.js'
import { ReactiveRegistry } from '../src/reactive/reactive-registry.js'
import { askToLetGo } from '../src/takeover/ask-to-let-go.js'
import { locateHolder } from '../src/takeover/locate-holder.js'
import { anotherProcess, entry, host, publish, serveAnswer, sharedRoot, storeOf } from './another-instance.js'

const clock = createSystemClock()
const client = new InstanceClient({ clock })
const agent = { uid: 'u-1', name: 'Ada' }

function here() {
  const root = sharedRoot()
  const registry = new ReactiveRegistry(root, { clock, host })
  onTestFinished(() => registry.close())
  const store = storeOf(root, { pid: process.pid, channel: 'ours' })
  const others = new OtherInstances({ registry, client, hostname: host.hostname })
  return { root, options: { store, held: [], others } }
}

async function claimedBy(store: LeaseStore): Promise<void> {
  const claim = await store.claim({ agent, blockId: 'b-1' })
  if (claim.kind !== 'granted') throw new Error(claim.kind)
}

describe('locating the holder of an agent', () => {
  test('the lease names its process, and that process is asked before others of its channel', async () => {
    const { root, options } = here()
    const [holder, neighbour] = [anotherProcess().pid, anotherProcess().pid]
    await claimedBy(storeOf(root, { pid: holder }))
    const now = Date.now()
    publish(
      root,
      'bob/stable.json',
      entry({ pid: neighbour, channel: 'stable', local_url: 'http://[::1]:1' })
    )
    publish(
      root,
      'ada/other.json',
      entry({ pid: holder, channel: 'stable', local_url: 'http://[::1]:2', updated_at: now - 60_000 })
    )
    const located = await locateHolder('u-1', options)
    expect(located).toMatchObject({
      kind: 'found',
      holder: { pid: holder, channel: 'stable', version: '0.44.1' }
    })
    expect(located.kind === 'found' && located.endpoints.map(({ url }) => url)).toEqual([
      'http://[::1]:2',
      'http://[::1]:1'
    ])
  })

  test('a holder that is not registered is asked through its channel, or is not reachable', async () => {
    const { root, options } = here()
    await claimedBy(storeOf(root, { pid: anotherProcess().pid }))
    expect(await locateHolder('u-1', options)).toMatchObject({ kind: 'found', endpoints: [] })
    const daemon = anotherProcess().pid
    publish(root, 'bob/stable.json', entry({ pid: daemon, channel: 'stable', local_url: 'http://[::1]:1' }))
    expect(await locateHolder('u-1', options)).toMatchObject({ kind: 'found', endpoints: [{ pid: daemon }] })
  })

  test('an older build without a lease is found by asking around', async () => {
    const { root, options } = here()
    const { url } = await serveAnswer(200, [{ agent_id: 'Ada', uid: 'U-1', block_id: 'b-7' }])
    const { pid } = anotherProcess()
    publish(root, 'ada/stable.json', entry({ pid, local_url: url }))
    expect(await locateHolder('u-1', options)).toMatchObject({
      kind: 'found',
      holder: { pid, blockId: 'b-7' },
      endpoints: [{ url }]
    })
  })

  test('a holder that died is nobody', async () => {
    const { root, options } = here()
    const child = anotherProcess()
    await claimedBy(storeOf(root, { pid: child.pid }))
    expect((await locateHolder('u-1', options)).kind).toBe('found')
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    expect(await locateHolder('u-1', options)).toEqual({ kind: 'nobody' })
  })

  test('this process is found without asking anybody', async () => {
    const { root, options } = here()
    const { url, seen } = await serveAnswer(200, [{ uid: 'u-1' }])
    publish(root, 'ada/stable.json', entry({ pid: anotherProcess().pid, local_url: url }))
    const lease = { agent, held: true, blockId: 'b', claimId: 'c', acquiredAtMs: 0 }
    expect(await locateHolder('u-1', { ...options, held: [lease] })).toEqual({ kind: 'this-process', lease })
    expect(seen).toEqual([])
  })

  test('a lease of another computer on the same folder is not for anybody here to release', async () => {
    const { root, options } = here()
    const far = { ...host, hostname: 'far-away', hostBootId: 'another-boot' }
    const store = storeOf(root, { pid: anotherProcess().pid }, { host: far })
    await claimedBy(store)
    publish(root, 'ada/stable.json', entry({ pid: anotherProcess().pid, channel: 'stable' }))
    expect(await locateHolder('u-1', options)).toMatchObject({
      kind: 'another-computer',
      holder: { hostname: 'far-away', place: 'lan' }
    })
  })

  test('where only watching tells, whoever the lease names may still be asked', async () => {
    const { root, options } = here()
    const { pid } = anotherProcess()
    const store = storeOf(root, { pid })
    await claimedBy(store)
    const lease = JSON.parse(readFileSync(store.pathOf('u-1'), 'utf8'))
    // An older build's, not renewed for a while.
    const old = { ...lease, host_boot_id: '', pid_ns: 0, time_ns: 0, renewed_boot_ms: 0 }
    writeFileSync(store.pathOf('u-1'), JSON.stringify({ ...old, renewed_at_ms: Date.now() - 60_000 }))
    publish(root, 'ada/stable.json', entry({ pid, channel: 'stable' }))
    expect(await locateHolder('u-1', options)).toMatchObject({
      kind: 'unknown',
      holder: { pid },
      retryAfterMs: 15_000,
      endpoints: [{ pid }]
    })
  })

  test('a lease file that is a folder is said to be unknown, not free', async () => {
    const { options } = here()
    mkdirSync(options.store.pathOf('u-1'), { recursive: true })
    expect(await locateHolder('u-1', options)).toMatchObject({ kind: 'unknown', endpoints: [] })
  })

  test('an abort and a bad UID are thrown', async () => {
    const { options } = here()
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(locateHolder('u-1', { ...options, signal })).rejects.toThrow('enough')
    await expect(locateHolder('../u-1', options)).rejects.toThrow(RangeError)
  })
})

describe('asking whoever may hold an agent to let it go', () => {
  const request = { uid: 'u-1', requestedByChannel: 'ours', requestedByVersion: '1.0.0' }

  async function endpointsThatSay(...answers: [number, unknown][]) {
    const { root, options } = here()
    const seen = []
    const now = Date.now()
    for (const [index, [status, body]] of answers.entries()) {
      const served = await serveAnswer(status, body)
      seen.push(served.seen)
      const updated_at = now - index
      publish(
        root,
        `a-${index}/x.json`,
        entry({ pid: anotherProcess().pid, local_url: served.url, updated_at })
      )
    }
    return { endpoints: options.others.endpointsOf({ pid: 0, channel: 'nightly' }), seen }
  }

  test('goes on to the next of the channel where one did not hold it, and stops at the first that did', async () => {
    const { endpoints, seen } = await endpointsThatSay(
      [200, { ok: true, released: 0 }],
      [200, { ok: true, released: 1 }],
      [200, { ok: true, released: 1 }]
    )
    const letGo = await askToLetGo(endpoints, request, { client })
    expect(letGo).toEqual({ endpoint: endpoints[1], answer: { kind: 'released', count: 1 } })
    expect(seen.map((requests) => requests.length)).toEqual([1, 1, 0])
  })

  test.each([
    [[200, { ok: true, released: 0 }], [404, ''], { kind: 'too-old', status: 404 }],
    [[404, ''], [409, { error: 'no' }], { kind: 'refused', status: 409, error: 'no' }],
    [[200, { ok: true, released: 0 }], [200, {}], { kind: 'bad-answer', status: 200 }],
    [[200, { ok: true, released: 0 }], [200, { ok: true, released: 0 }], { kind: 'released', count: 0 }]
  ] as [[number, unknown], [number, unknown], unknown][])(
    'nobody did: %j and %j come to %j',
    async (one, other, expected) => {
      const { endpoints } = await endpointsThatSay(one, other)
      expect((await askToLetGo(endpoints, request, { client }))?.answer).toEqual(expected)
    }
  )

  test('nobody to ask is no answer', async () => {
    expect(await askToLetGo([], request, { client })).toBeUndefined()
  })
})

import { getEventListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InstanceClient } from '../src/instance/instance-client.js'
import { OtherInstances } from '../src/reactive/other-instances.js'
import { ReactiveRegistry } from '../src/reactive/reactive-registry.js'
import { waitUntilFree } from '../src/takeover/wait-until-free.js'
import { anotherProcess, entry, host, publish, send, serve, sharedRoot, storeOf } from './another-instance.js'

const agent = { uid: 'u-1', name: 'Ada' }

function here(clock: Clock = createSystemClock()) {
  const root = sharedRoot()
  const registry = new ReactiveRegistry(root, { clock, host })
  onTestFinished(() => registry.close())
  const others = new OtherInstances({
    registry,
    client: new InstanceClient({ clock: createSystemClock() }),
    hostname: host.hostname
  })
  return { root, options: { store: storeOf(root, { pid: process.pid }), others, clock } }
}

async function claimed(root: string, pid: number) {
  const store = storeOf(root, { pid, channel: 'nightly' })
  const claim = await store.claim({ agent, blockId: 'b-1' })
  if (claim.kind !== 'granted') throw new Error(claim.kind)
  return { store, lease: claim.lease }
}

describe('waiting until an agent is free', () => {
  test('a free one is free at once', async () => {
    expect(await waitUntilFree('u-1', here().options)).toEqual({ kind: 'free' })
  })

  test('is woken by the release itself: no poll is needed', async () => {
    const { root, options } = here(createManualClock())
    const { store, lease } = await claimed(root, anotherProcess().pid)
    // From here on the poll behind the watch never comes.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    let seen = () => {}
    const held = new Promise<void>((resolve) => {
      seen = resolve
    })
    const waiting = waitUntilFree('u-1', { ...options, onStillHeld: () => seen() })
    await held
    await store.release(lease)
    expect(await waiting).toEqual({ kind: 'free' })
  })

  test('a holder that dies is noticed', async () => {
    const { root, options } = here()
    const child = anotherProcess()
    await claimed(root, child.pid)
    const waiting = waitUntilFree('u-1', { ...options, onStillHeld: () => child.kill('SIGKILL') })
    expect(await waiting).toEqual({ kind: 'free' })
  })

  test('an older build without a lease is asked until it has forgotten the agent', async () => {
    const { root, options } = here()
    let asked = 0
    const url = await serve((_request, response) =>
      send(response, 200, ++asked < 3 ? '[{"agent_id":"Ada","uid":"u-1"}]' : '[]')
    )
    const { pid } = anotherProcess()
    publish(root, 'ada/stable.json', entry({ pid, local_url: url }))
    const holders: number[] = []
    const onStillHeld = (holder: { pid: number }) => holders.push(holder.pid)
    expect(await waitUntilFree('u-1', { ...options, onStillHeld })).toEqual({ kind: 'free' })
    expect(asked).toBe(3)
    expect(holders).toEqual([pid, pid])
  })

  test('ends after 25 s with who still has it, and leaves no timer', async () => {
    const clock = createManualClock()
    const { root, options } = here(clock)
    const { pid } = anotherProcess()
    await claimed(root, pid)
    const controller = new AbortController()
    let settled = false
    const waiting = waitUntilFree('u-1', { ...options, signal: controller.signal }).finally(() => {
      settled = true
    })
    await clock.advance(24_999)
    expect(settled).toBe(false)
    await clock.advance(1)
    expect(await waiting).toMatchObject({ kind: 'ran-out', holder: { pid, channel: 'nightly' } })
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('an abort ends it with its reason and leaves nothing', async () => {
    const clock = createManualClock()
    const { root, options } = here(clock)
    await claimed(root, anotherProcess().pid)
    const controller = new AbortController()
    const waiting = waitUntilFree('u-1', { ...options, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('a lease that cannot be read is not free: somebody may hold it', async () => {
    const clock = createManualClock()
    const { root, options } = here(clock)
    const { store } = await claimed(root, anotherProcess().pid)
    writeFileSync(store.pathOf('u-1'), '{')
    const waiting = waitUntilFree('u-1', options)
    await clock.advance(25_000)
    expect(await waiting).toMatchObject({ kind: 'ran-out', holder: { pid: 0, channel: '' } })
  })
})

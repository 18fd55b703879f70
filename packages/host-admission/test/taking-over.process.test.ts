/** The requester's half of a take-over, against real holders in processes of their own. */
import { getEventListeners } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import {
  HostAdmission,
  InstanceClient,
  OtherInstances,
  ReactiveRegistry,
  type TakeOverProgress,
  type TakeOverRequest,
  type TakeOverResult,
  takeOver
} from '@agentmux/host-admission'
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { LeaseStore } from '@agentmux/lease-store'
import { isAdmissionRefusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anotherProcess, entry, host, publish, send, serve, storeOf } from './another-instance.js'
import { carrying, eventually } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'
import { type HolderOptions, TestHolder } from './fixture/test-holder.js'

const UID = 'agent'
const agent = { uid: UID, name: 'Agent3' }
let scratch: Scratch
let admissions: HostAdmission[]
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  admissions = []
  claims = []
})
afterEach(async () => {
  await Promise.all(admissions.map((admission) => admission.close({ graceMs: 0 })))
  scratch.dispose(claims)
})

/** An instance in this process that takes over. */
function requester({
  channel = 'nightly',
  clock = createSystemClock()
}: {
  channel?: string
  clock?: Clock
} = {}) {
  const instance = { ...storeOf(scratch.folder, { pid: process.pid, channel, version: '2.0.0' }).instance }
  const admission = new HostAdmission({ registryRoot: scratch.registryRoot, instance, host })
  admissions.push(admission)
  const client = new InstanceClient({ clock: createSystemClock() })
  const registry = new ReactiveRegistry(scratch.folder, { clock: createSystemClock(), host })
  const others = new OtherInstances({ registry, client, hostname: host.hostname })
  const { store, holds, held } = admission
  const progress: TakeOverProgress[] = []
  return {
    admission,
    progress,
    takeOver: (request: Partial<TakeOverRequest> = {}): Promise<TakeOverResult> =>
      takeOver(
        { agent, onProgress: (one) => progress.push(one), ...request },
        { store, holds, others, client, held, clock, instance }
      )
  }
}

/** A process that holds the agent, and what it does when it is asked to let go. */
async function holder(listen: object | 'nowhere' = {}, options: HolderOptions = {}) {
  const one = await TestHolder.run(scratch, { channel: 'stable', ...options })
  const acquired = await one.acquire(UID)
  if (acquired.kind !== 'granted') throw new Error(JSON.stringify(acquired))
  claims.push(String(acquired.claimId))
  if (listen !== 'nowhere') {
    one.send('listen', { uid: UID, sharedRoot: scratch.folder, ...listen })
    await one.next('listening')
  }
  return { one, epoch: Number(acquired.epoch), claimId: String(acquired.claimId) }
}

const holdFile = () => `${scratch.leases}/${UID}.hold`
const hold = () => JSON.parse(readFileSync(holdFile(), 'utf8')) as Record<string, unknown>

async function acquired(admission: HostAdmission, blockId = 'pane') {
  const result = await admission.acquire(agent, { blockId })
  if (result.kind === 'granted') claims.push(result.lease.claimId)
  return result
}

describe('an agent that nobody drives', () => {
  it('is kept for the one that takes it over, and for nobody else', async () => {
    const [nightly, stable] = [requester(), requester({ channel: 'stable' })]
    expect(await nightly.takeOver()).toEqual({ kind: 'free' })
    expect(hold()).toMatchObject({ to_channel: 'nightly', to_version: '2.0.0', to_boot_id: '' })
    expect(await acquired(stable.admission)).toMatchObject({
      kind: 'refused',
      refusal: { kind: 'taken-over' }
    })
    expect((await acquired(nightly.admission)).kind).toBe('granted')
  })

  it('can be kept for one process alone', async () => {
    const [taker, neighbour] = [requester(), requester()]
    expect(await taker.takeOver({ reserveFor: 'this-process' })).toEqual({ kind: 'free' })
    expect((await acquired(neighbour.admission)).kind).toBe('refused')
    expect((await acquired(taker.admission)).kind).toBe('granted')
  })

  it('goes to the person that took it over last', async () => {
    const [nightly, stable] = [requester(), requester({ channel: 'stable' })]
    await nightly.takeOver()
    expect(await stable.takeOver()).toEqual({ kind: 'free' })
    expect((await acquired(nightly.admission)).kind).toBe('refused')
    expect((await acquired(stable.admission)).kind).toBe('granted')
  })

  it('is asked for where somebody claimed it before it was reserved', async () => {
    const { pid } = anotherProcess()
    const { instance } = storeOf(scratch.folder, { pid })
    const theirs = LeaseStore.open(scratch.registryRoot, { instance, host })
    const url = await serve(async (_request, response) => {
      await theirs.claim({ agent, blockId: 'theirs' })
      send(response, 200, '[]')
    })
    publish(
      scratch.folder,
      'other/beta.json',
      entry({ pid: anotherProcess().pid, local_url: url, channel: 'beta' })
    )
    expect(await requester().takeOver()).toMatchObject({ kind: 'not-running', holder: { pid } })
    expect(existsSync(holdFile())).toBe(false)
  })
})

describe('a holder that lets go', () => {
  it('is asked with its key and our name, ends what it runs, and is refused for 30 s', async () => {
    const { one, epoch, claimId } = await holder()
    await one.start(UID, ['sleep', '600'])
    const { takeOver, admission, progress } = requester()

    expect(await takeOver()).toMatchObject({
      kind: 'released',
      fromChannel: 'stable',
      holder: { pid: one.pid, channel: 'stable', version: '1.0.0', epoch }
    })
    const asked = one.all('asked').find(({ path }) => path === '/agentmux/agent/release')
    expect(asked?.key).toBe('the-key')
    expect(JSON.parse(String(asked?.body))).toEqual({
      uid: UID,
      agent: 'Agent3',
      requested_by_channel: 'nightly',
      requested_by_version: '2.0.0'
    })
    expect(progress[0]).toMatchObject({
      kind: 'asking',
      holder: { pid: one.pid },
      endpoint: { pid: one.pid }
    })
    expect(carrying(claimId)).toEqual([])

    expect(await one.acquire(UID)).toMatchObject({ kind: 'refused', refusal: { kind: 'taken-over' } })
    const restarted = await TestHolder.run(scratch, { channel: 'stable' })
    const refused = await restarted.acquire(UID)
    expect(refused).toMatchObject({
      kind: 'refused',
      refusal: { holder: { channel: 'nightly' }, exitCode: 75 }
    })
    const ours = await acquired(admission)
    expect(ours.kind === 'granted' && ours.lease.epoch).toBe(epoch + 1)
  })

  it('has it back when a person takes it back, though another process of its channel asked for it', async () => {
    const { one } = await holder({}, { version: '2.0.0' })
    const nightly = requester()
    expect((await nightly.takeOver()).kind).toBe('released')
    expect((await one.acquire(UID)).kind).toBe('refused')
    const stable = requester({ channel: 'stable' })
    expect(await stable.takeOver()).toEqual({ kind: 'free' })
    expect((await acquired(nightly.admission)).kind).toBe('refused')
    expect((await one.acquire(UID)).kind).toBe('granted')
  })

  it('places no hold, as older builds: it is ours all the same', async () => {
    const { one } = await holder({ hold: false })
    const { takeOver, admission } = requester()
    expect((await takeOver()).kind).toBe('released')
    expect(hold()).toMatchObject({ to_channel: 'nightly' })
    expect((await one.acquire(UID)).kind).toBe('refused')
    expect((await acquired(admission)).kind).toBe('granted')
  })

  it('is not won back by a supervisor of the same channel and version that restarts it without a pause', async () => {
    const { one } = await holder({}, { channel: 'nightly' })
    const { takeOver, admission } = requester()
    const supervised = await TestHolder.run(scratch, { channel: 'nightly', version: '2.0.0' })
    let over = false
    const restarting = (async () => {
      const kinds = new Set<unknown>()
      while (!over) kinds.add((await supervised.acquire(UID)).kind)
      return kinds
    })()
    expect((await takeOver({ reserveFor: 'this-process' })).kind).toBe('released')
    expect(hold()).toMatchObject({ to_boot_id: admission.store.instance.ownerBootId })
    const ours = await acquired(admission)
    over = true
    expect(await restarting).toEqual(new Set(['refused']))
    expect(ours.kind).toBe('granted')
    expect(one.all('asked').length).toBeGreaterThan(0)
  })
})

describe('a holder that does not let go', () => {
  it.each([
    ['refuses', { answer: [409, { error: 'not now' }] }, 'refused', 'saying "not now"'],
    ['is too old', { answer: [404, {}] }, 'too-old', 'too old to be asked'],
    ['does not know the method', { answer: [405, {}] }, 'too-old', 'too old to be asked'],
    ['answers nonsense', { answer: [200, { ok: 'yes' }] }, 'no-answer', 'did not answer'],
    ['has another key now', { answer: [401, {}] }, 'not-running', 'not there to be asked'],
    ['is registered nowhere', 'nowhere', 'not-running', 'not there to be asked']
  ] as const)('%s: the answer says so, and nothing has changed', async (_, listen, kind, words) => {
    const { one } = await holder(listen, { ttlMs: 600_000 })
    const before = readFileSync(scratch.leaseFile(UID))
    const { takeOver } = requester()
    const result = await takeOver()
    expect(result).toMatchObject({ kind, holder: { pid: one.pid, channel: 'stable' } })
    const { message } = result as { message: string }
    expect(message).toContain(words)
    expect(message).toContain(`pid ${one.pid}`)
    expect(isAdmissionRefusal(message)).toBe(false)
    expect(readFileSync(scratch.leaseFile(UID))).toEqual(before)
    expect(readdirSync(scratch.leases).filter((name) => name.includes('.hold'))).toEqual([])
  })

  it('runs nowhere but in an entry of the registry: nothing listens there', async () => {
    const { one } = await holder('nowhere')
    publish(
      scratch.folder,
      'agent/stable.json',
      entry({ pid: one.pid, channel: 'stable', local_url: 'http://127.0.0.1:1' })
    )
    expect(await requester().takeOver()).toMatchObject({ kind: 'not-running', holder: { pid: one.pid } })
    expect(existsSync(holdFile())).toBe(false)
  })

  it('is not waited for where only another instance of its channel could be asked, and has nothing of it', async () => {
    const { one } = await holder('nowhere')
    const neighbour = await TestHolder.run(scratch, { channel: 'stable' })
    neighbour.send('listen', {
      uid: 'x',
      sharedRoot: scratch.folder,
      answer: [200, { ok: true, released: 0 }]
    })
    await neighbour.next('listening')
    expect(await requester().takeOver()).toMatchObject({ kind: 'not-running', holder: { pid: one.pid } })
  })

  it('is stopped and says nothing: its lease runs out, and the agent is ours', async () => {
    const { one, claimId } = await holder({ answer: 'never' }, { ttlMs: 5_000 })
    await one.start(UID, ['sleep', '600'])
    await eventually('its child is recorded', () => Number(scratch.lease(UID)?.driver_pid) > 0)
    // Once it has answered it is outside the lock: one that is stopped inside keeps everybody out.
    one.send('verify', { uid: UID })
    await one.next('verified')
    one.signal('SIGSTOP')
    const { takeOver, admission } = requester()
    expect(await takeOver()).toMatchObject({ kind: 'released', holder: { pid: one.pid } })
    expect(await acquired(admission)).toMatchObject({ kind: 'granted' })
    expect(carrying(claimId)).toEqual([])
  })

  it('is killed while it is asked: the agent is ours', async () => {
    const { one } = await holder({ answer: 'never' })
    const { takeOver, progress } = requester()
    const taking = takeOver()
    await one.next('asked')
    const { until_boot_ms: reservedUntilMs } = hold()
    one.signal('SIGKILL')
    expect(await taking).toMatchObject({ kind: 'released', fromChannel: 'stable' })
    expect(hold()).toMatchObject({ to_channel: 'nightly' })
    // Kept for 30 s from the moment that it is free.
    expect(hold().until_boot_ms).toBeGreaterThan(Number(reservedUntilMs))
    expect(progress.map(({ kind }) => kind)).toContain('asking')
  })

  it('says that it lets go and does not: the time runs out, with who still has it', async () => {
    const { one } = await holder({ answer: [200, { ok: true, released: 1 }] })
    const clock = createManualClock()
    const { takeOver, progress } = requester({ clock })
    const taking = takeOver()
    await eventually(
      'it waits',
      () => one.all('asked').length > 0 && progress.some((p) => p.kind === 'waiting')
    )
    await clock.advance(25_000)
    const result = await taking
    expect(result).toMatchObject({ kind: 'ran-out', holder: { pid: one.pid } })
    expect((result as { message: string }).message).toContain('within 25 s')
    expect(existsSync(holdFile())).toBe(false)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('an older build without a lease', () => {
  async function older(release: [number, unknown]) {
    const { pid } = anotherProcess()
    let runs = true
    const url = await serve(async (request, response) => {
      if (request.method === 'GET')
        return send(response, 200, runs ? `[{"agent_id":"x","uid":"${UID}"}]` : '[]')
      runs = release[0] !== 200
      send(response, release[0], JSON.stringify(release[1]))
    })
    publish(scratch.folder, 'x/beta.json', entry({ pid, local_url: url, channel: 'beta' }))
    return pid
  }

  it('is found by asking around, asked, and waited for until it has forgotten the agent', async () => {
    const pid = await older([200, { ok: true, released: 1 }])
    const { takeOver, admission } = requester()
    expect(await takeOver()).toMatchObject({ kind: 'released', fromChannel: 'beta', holder: { pid } })
    expect(hold()).toMatchObject({ to_channel: 'nightly' })
    expect((await acquired(admission)).kind).toBe('granted')
  })

  it('is too old to be asked: it keeps the agent, and no hold is left', async () => {
    const pid = await older([404, {}])
    expect(await requester().takeOver()).toMatchObject({ kind: 'too-old', holder: { pid, channel: 'beta' } })
    expect(existsSync(holdFile())).toBe(false)
  })
})

describe('a take-over that comes to an end', () => {
  it.each([
    ['lets go', {}, 'released'],
    ['refuses', { answer: [409, { error: 'no' }] }, 'refused']
  ] as const)('leaves no timer, no watch and no listener where the holder %s', async (_, listen, kind) => {
    await holder(listen)
    const clock = createManualClock()
    const { signal } = new AbortController()
    expect((await requester({ clock }).takeOver({ signal })).kind).toBe(kind)
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('two take-overs at once', () => {
  it('of which one is broken off: the other keeps what it has reserved', async () => {
    const { one } = await holder({ answer: 'never' })
    const [first, second] = [requester(), requester({ channel: 'beta' })]
    const taking = first.takeOver()
    await one.next('asked')
    const controller = new AbortController()
    const giving = second.takeOver({ signal: controller.signal })
    await one.next('asked', 2)
    expect(hold()).toMatchObject({ to_channel: 'beta' })
    controller.abort(new Error('enough'))
    await expect(giving).rejects.toThrow('enough')
    expect(hold()).toMatchObject({ to_channel: 'nightly' })
    one.signal('SIGKILL')
    expect(await taking).toMatchObject({ kind: 'released' })
    expect((await acquired(second.admission)).kind).toBe('refused')
    expect((await acquired(first.admission)).kind).toBe('granted')
  })

  it.each([
    ['another channel', 'beta'],
    ['the same channel', 'nightly']
  ])('of a holder that dies, from %s: one has it, the other is told who took it', async (_, channel) => {
    const { one } = await holder({ answer: 'never' })
    const both = [requester(), requester({ channel })] as const
    const first = both[0].takeOver({ reserveFor: 'this-process' })
    await one.next('asked')
    const second = both[1].takeOver({ reserveFor: 'this-process' })
    await one.next('asked', 2)
    one.signal('SIGKILL')
    const results = await Promise.all([first, second])
    expect(results.map(({ kind }) => kind).sort()).toEqual(['outrun', 'released'])
    const winner = both[results[0].kind === 'released' ? 0 : 1]
    const loser = results.find(({ kind }) => kind === 'outrun')
    const { channel: to } = winner.admission.store.instance
    expect(loser).toMatchObject({
      holder: { channel: to },
      message: expect.stringContaining(`channel ${to}`)
    })
    const kinds = await Promise.all(both.map(async (each) => (await acquired(each.admission)).kind))
    expect(kinds).toEqual(both.map((each) => (each === winner ? 'granted' : 'refused')))
  })

  it('of an agent that nobody drives: each is told what it has', async () => {
    const both = [requester(), requester({ channel: 'beta' })] as const
    const results = await Promise.all(both.map((each) => each.takeOver()))
    expect(results.map(({ kind }) => kind).sort()).toEqual(['free', 'outrun'])
    const kinds = await Promise.all(both.map(async (each) => (await acquired(each.admission)).kind))
    expect(kinds).toEqual(results.map(({ kind }) => (kind === 'free' ? 'granted' : 'refused')))
  })
})

describe('a take-over that is cancelled', () => {
  it('midway leaves no hold, no timer and no listener, and the holder its agent', async () => {
    const { one } = await holder({ answer: 'never' })
    const clock = createManualClock()
    const { takeOver } = requester({ clock })
    const controller = new AbortController()
    const taking = takeOver({ signal: controller.signal })
    await one.next('asked')
    expect(existsSync(holdFile())).toBe(true)
    controller.abort(new Error('changed my mind'))
    await expect(taking).rejects.toThrow('changed my mind')
    expect(existsSync(holdFile())).toBe(false)
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    one.send('verify', { uid: UID })
    expect(await one.next('verified')).toMatchObject({ kind: 'held' })
  })

  it('before it begins touches nothing', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(requester().takeOver({ signal })).rejects.toThrow('enough')
    await expect(requester().takeOver({ agent: { uid: '../x' } })).rejects.toThrow(RangeError)
    expect(existsSync(scratch.registryRoot)).toBe(false)
  })

  it('takes back the hold of the holder that names us as well', async () => {
    const { one } = await holder({ answer: 'never' })
    const { takeOver, admission } = requester()
    const controller = new AbortController()
    const taking = takeOver({ signal: controller.signal })
    await one.next('asked')
    const theirs = requester({ channel: 'stable' })
    theirs.admission.holds.holdAfterHandover(UID, admission.store.instance)
    controller.abort(new Error('enough'))
    await expect(taking).rejects.toThrow('enough')
    await pause(0)
    expect(existsSync(holdFile())).toBe(false)
  })
})

describe('an agent that cannot be asked for', () => {
  it('is here already', async () => {
    const { takeOver, admission } = requester()
    await acquired(admission, 'pane-7')
    expect(await takeOver()).toEqual({ kind: 'this-process', blockId: 'pane-7' })
    expect(existsSync(holdFile())).toBe(false)
  })

  it('is driven from another computer that shares the folder', async () => {
    const far = { ...host, hostname: 'far-away', hostBootId: 'another-boot' }
    scratch.forge(UID, { hostname: far.hostname, host_boot_id: far.hostBootId, renewed_boot_ms: 0 })
    const result = await requester().takeOver()
    expect(result).toMatchObject({ kind: 'another-computer', holder: { hostname: 'far-away' } })
    expect((result as { message: string }).message).toContain('End it there')
    expect(existsSync(holdFile())).toBe(false)
  })

  it('has a lease that does not tell: only watching would', async () => {
    mkdirSync(scratch.leaseFile(UID), { recursive: true })
    expect(await requester().takeOver()).toMatchObject({ kind: 'unknown', retryAfterMs: 15_000 })
    expect(existsSync(holdFile())).toBe(false)
  })
})

/** The fence before the record, and sections that run only while the lease is held (R4, R10). */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HostAdmission } from '@agentmux/host-admission'
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import { createInstanceIdentity, type Lease, LeaseFault, LeaseStore } from '@agentmux/lease-store'
import { lostRefusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HeldCheck } from '../src/held-answers.js'
import { fencedZone, type ZoneLease } from '../src/record/fenced-zone.js'
import { RecordFence } from '../src/record/record-fence.js'
import { SharedRecord } from '../src/record/shared-record.js'
import { contents, linesOf, readAll, tempRoot } from './record-scene.js'

const agent = { uid: 'uid-1', name: 'ada' }
const ttlMs = 15_000

let root: string
let clock: ManualClock
let record: SharedRecord

beforeEach(() => {
  root = tempRoot()
  clock = createManualClock()
  record = new SharedRecord(root, { clock })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

/** A lease as the fence sees it, on a real lease file; it is not renewed. */
class FileLease implements ZoneLease {
  readonly agent = agent
  readonly epoch: number
  held = true
  /** How often the file was asked. */
  asked = 0
  fault: LeaseFault | undefined
  readonly #lost = new AbortController()
  readonly #store: LeaseStore
  readonly #lease: Lease

  constructor(store: LeaseStore, lease: Lease) {
    this.#store = store
    this.#lease = lease
    this.epoch = lease.epoch
  }

  get lostSignal(): AbortSignal {
    return this.#lost.signal
  }

  async verify(): Promise<HeldCheck> {
    this.asked += 1
    if (this.fault !== undefined) throw this.fault
    const result = await this.#store.verify(this.#lease)
    if (result.kind === 'held' && this.held) return { kind: 'held' }
    this.lose()
    return { kind: 'lost', refusal: lostRefusal(agent, 'other-owner', clock.wallMs()) }
  }

  lose(): void {
    this.held = false
    this.#lost.abort('lost')
  }
}

async function claim(channel: string): Promise<FileLease> {
  const instance = createInstanceIdentity({ channel, version: '1' })
  const store = LeaseStore.open(join(root, 'agents', 'registry'), { instance, clock, ttlMs })
  const request = { agent, blockId: 'b', epochFloor: record.highestEpoch(agent.uid) }
  const result = await store.claim(request)
  if (result.kind !== 'granted') throw new Error(`not granted: ${result.kind}`)
  return new FileLease(store, result.lease)
}

function fenceOf(lease: FileLease): RecordFence {
  return new RecordFence(lease, { record, clock, ttlMs })
}

function turn(n: number) {
  return [{ kind: 'turn', n }]
}

async function turns(): Promise<unknown[]> {
  return linesOf(await readAll(record, agent.uid)).map(({ epoch, event }) => [epoch, event.n])
}

describe('the fence', () => {
  test('asks the lease file before the first append, then memory for one TTL, then the file again', async () => {
    const lease = await claim('stable')
    const fence = fenceOf(lease)
    for (let n = 0; n < 10; n++) await fence.append(turn(n))
    expect(lease.asked).toBe(1)
    clock.suspend(ttlMs)
    await fence.append(turn(10))
    expect(lease.asked).toBe(1)
    clock.suspend(1)
    await fence.append(turn(11))
    await fence.append(turn(12))
    expect(lease.asked).toBe(2)
    expect((await turns()).length).toBe(13)
  })

  test('is kept from asking by confirmations from elsewhere, none of which can lie in the future', async () => {
    const lease = await claim('stable')
    const fence = fenceOf(lease)
    fence.confirmed(clock.bootMs())
    await fence.append(turn(1))
    expect(lease.asked).toBe(0)
    fence.confirmed(clock.bootMs() + 1_000_000)
    clock.suspend(ttlMs + 1)
    await fence.append(turn(2))
    expect(lease.asked).toBe(1)
  })

  test('asks once, however many appends wait for the answer, and keeps their order', async () => {
    const lease = await claim('stable')
    const fence = fenceOf(lease)
    await Promise.all(Array.from({ length: 50 }, (_, n) => fence.append(turn(n))))
    expect(lease.asked).toBe(1)
    expect(await turns()).toEqual(Array.from({ length: 50 }, (_, n) => [1, n]))
  })

  test('stops a holder that slept through its lease; the record is not touched', async () => {
    const old = await claim('stable')
    const oldFence = fenceOf(old)
    await oldFence.append(turn(1))
    clock.suspend(ttlMs + 1)
    const successor = await claim('beta')
    const before = contents(record.pathOf(agent.uid))
    const result = await oldFence.append(turn(2))
    expect(result).toMatchObject({ kind: 'lost', refusal: { agent } })
    expect(contents(record.pathOf(agent.uid))).toEqual(before)
    expect((await fenceOf(successor).append(turn(3))).kind).toBe('appended')
    expect((await oldFence.append(turn(4))).kind).toBe('lost')
    expect(await turns()).toEqual([
      [1, 1],
      [2, 3]
    ])
  })

  test('lets a holder go on that slept, and whose lease nobody took', async () => {
    const lease = await claim('stable')
    const fence = fenceOf(lease)
    await fence.append(turn(1))
    clock.suspend(100 * ttlMs)
    expect((await fence.append(turn(2))).kind).toBe('appended')
  })

  test('believes memory at once when that says lost, however fresh the confirmation', async () => {
    const lease = await claim('stable')
    const fence = fenceOf(lease)
    await fence.append(turn(1))
    lease.lose()
    expect((await fence.append(turn(2))).kind).toBe('lost')
    expect(await turns()).toEqual([[1, 1]])
  })

  test('that is wrong is not the last: the log turns an old epoch away, and the lease is asked then', async () => {
    const old = await claim('stable')
    const fence = fenceOf(old)
    await fence.append(turn(1))
    // The successor wrote within our TTL: it was handed over, and we have not noticed.
    clock.suspend(ttlMs)
    const successor = await claim('beta')
    await record.append(agent.uid, { epoch: successor.epoch, events: turn(2) })
    fence.confirmed(clock.bootMs())
    const asked = old.asked
    expect((await fence.append(turn(3))).kind).toBe('lost')
    expect(old.asked).toBe(asked + 1)
    expect(old.held).toBe(false)
    expect(await turns()).toEqual([
      [1, 1],
      [2, 2]
    ])
  })

  test('tells of a higher epoch in the record that no lease accounts for', async () => {
    const lease = await claim('stable')
    await record.append(agent.uid, { epoch: 99, events: [] })
    expect(await fenceOf(lease).append(turn(1))).toEqual({ kind: 'rejected', highestEpoch: 99 })
    expect(lease.held).toBe(true)
  })

  test('looks again when the lease was lost, or the memory went stale, while it waited for the lock', async () => {
    const lease = await claim('stable')
    for (const meanwhile of [() => clock.suspend(ttlMs + 1), () => lease.lose()]) {
      let once = meanwhile
      const slow = {
        appendIf: async (...[uid, request, allowed]: Parameters<SharedRecord['appendIf']>) => {
          once()
          once = () => {}
          return record.appendIf(uid, request, allowed)
        }
      }
      const asked = lease.asked
      const fence = new RecordFence(lease, { record: slow, clock, ttlMs })
      const result = await fence.append(turn(asked))
      expect(lease.asked).toBe(asked + 2)
      expect(result.kind).toBe(lease.held ? 'appended' : 'lost')
    }
    expect((await turns()).length).toBe(1)
  })

  test('appends nothing when it cannot find out', async () => {
    const lease = await claim('stable')
    lease.fault = new LeaseFault('no', { code: 'io', path: '/x', errno: 'EIO' })
    const fence = fenceOf(lease)
    await expect(fence.append(turn(1))).rejects.toBe(lease.fault)
    expect(await turns()).toEqual([])
    lease.fault = undefined
    expect((await fence.append(turn(2))).kind).toBe('appended')
  })

  test('is kept by the floor: after the lease folder is gone, the next epoch is above the record', async () => {
    for (let n = 0; n < 3; n++) {
      const lease = await claim(`c${n}`)
      await fenceOf(lease).append(turn(n))
      clock.suspend(ttlMs + 1)
    }
    rmSync(join(root, 'agents', 'registry'), { recursive: true })
    const lease = await claim('stable')
    expect(lease.epoch).toBeGreaterThan(3)
    expect((await fenceOf(lease).append(turn(3))).kind).toBe('appended')
  })
})

describe('a fenced zone', () => {
  test('runs while the lease is held, and asks the lease file first', async () => {
    const lease = await claim('stable')
    expect(await fencedZone(lease, (lost) => [lost.aborted, lease.asked])).toEqual({
      kind: 'done',
      value: [false, 1]
    })
  })

  test('does not begin when the lease is lost, or when nobody knows', async () => {
    const old = await claim('stable')
    clock.suspend(ttlMs + 1)
    await claim('beta')
    let ran = 0
    const section = () => {
      ran += 1
    }
    expect(await fencedZone(old, section)).toMatchObject({ kind: 'lost', began: false })
    old.fault = new LeaseFault('no', { code: 'io', path: '/x' })
    await expect(fencedZone(old, section)).rejects.toBe(old.fault)
    expect(ran).toBe(0)
  })

  test('is told of the loss while it runs, and its outcome is dropped', async () => {
    const lease = await claim('stable')
    const untilLost = (lost: AbortSignal) =>
      new Promise((_, reject) => {
        lost.addEventListener('abort', () => reject(lost.reason), { once: true })
        lease.lose()
      })
    expect(await fencedZone(lease, untilLost)).toMatchObject({ kind: 'lost', began: true })
  })

  test('passes on what the section throws while the lease is held', async () => {
    const lease = await claim('stable')
    const zone = fencedZone(lease, () => {
      throw new RangeError('mine')
    })
    await expect(zone).rejects.toThrow('mine')
  })
})

// From its build: the watchdog is a thread, which needs a file of its own.
describe('with the lease of a HostAdmission', () => {
  test('both work while it is held, and stop with its own refusal when it is not', async () => {
    const registryRoot = join(root, 'agents', 'registry')
    const instance = createInstanceIdentity({ channel: 'stable', version: '1' })
    await using admission = new HostAdmission({ registryRoot, instance })
    const result = await admission.acquire(agent, { blockId: 'b' })
    if (result.kind !== 'granted') throw new Error(result.kind)
    const { lease } = result
    const real = new SharedRecord(root)
    const ports = { record: real, clock: admission.store.clock, ttlMs: admission.store.ttlMs }
    const fence = new RecordFence(lease, ports)

    expect((await fence.append(turn(1))).kind).toBe('appended')
    expect((await fencedZone(lease, () => fence.append(turn(2)))).kind).toBe('done')
    rmSync(admission.store.pathOf(agent.uid))
    const zone = await fencedZone(lease, () => fence.append(turn(3)))
    expect(zone).toMatchObject({ kind: 'lost', began: false, refusal: lease.loss })
    expect(await fence.append(turn(4))).toEqual({ kind: 'lost', refusal: lease.loss })
    expect(await turns()).toEqual([
      [1, 1],
      [1, 2]
    ])
  })
})

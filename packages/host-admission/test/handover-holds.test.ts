import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManualClock } from '@agentmux/lease-model/testing'
import type { LeaseStore } from '@agentmux/lease-store'
import { isAdmissionRefusal } from '@agentmux/refusals'
import { describe, expect, test } from 'vitest'
import { HandoverHolds } from '../src/takeover/handover-holds.js'
import { holdFileOf, readHold } from '../src/takeover/hold-file.js'
import { lockingHolds } from '../src/takeover/hold-lock.js'
import { host, sharedRoot, storeOf } from './another-instance.js'

const agent = { uid: 'u-1', name: 'Ada' }
const nightly = { channel: 'nightly', version: '2.0.0' }

function twoInstances() {
  const root = sharedRoot()
  const clock = createManualClock()
  const open = (channel: string, version: string) =>
    storeOf(root, { pid: process.pid, channel, version }, { clock })
  const store = open('stable', '1.0.0')
  mkdirSync(store.folder, { recursive: true })
  return { clock, store, successor: open('nightly', '2.0.0'), third: open('dev', '2.0.0') }
}

const place = (store: LeaseStore, uid: string) => new HandoverHolds({ store }).holdAfterHandover(uid, nightly)
const refused = (store: LeaseStore) => new HandoverHolds({ store }).refusalFor(agent) !== undefined

describe('after a hand-over', () => {
  test('the old holder is refused for 30 s with who took the agent', async () => {
    const { clock, store } = twoInstances()
    const holds = new HandoverHolds({ store })
    expect(holds.refusalFor(agent)).toBeUndefined()
    holds.holdAfterHandover('u-1', nightly)
    await clock.advance(12_000)
    const refusal = holds.refusalFor(agent)
    expect(refusal).toMatchObject({
      kind: 'taken-over',
      agent,
      holder: { place: 'this-host', hostname: host.hostname, channel: 'nightly', version: '2.0.0' },
      retryAfterMs: 18_000,
      exitCode: 75
    })
    expect(isAdmissionRefusal(refusal?.message)).toBe(true)
    expect(refusal?.message).toContain('nightly')
    expect(holds.refusalFor({ uid: 'u-2', name: 'Ada' })).toBeUndefined()
    await clock.advance(18_000)
    expect(holds.refusalFor(agent)).toBeUndefined()
  })

  test('a step of the wall clock, in either direction, changes nothing', async () => {
    const { clock, store } = twoInstances()
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    clock.stepWall(3_600_000)
    expect(holds.refusalFor(agent)?.retryAfterMs).toBe(30_000)
    clock.stepWall(-7_200_000)
    await clock.advance(29_999)
    expect(holds.refusalFor(agent)?.retryAfterMs).toBe(1)
  })

  test('everybody but the successor is refused, a restart of the old holder too', () => {
    const { store, successor, third } = twoInstances()
    new HandoverHolds({ store }).holdAfterHandover('u-1', nightly)
    expect([store, successor, third].map(refused)).toEqual([true, false, true])
  })

  test('a named instance is the only one that passes', () => {
    const { store, successor, third } = twoInstances()
    const { ownerBootId } = third.instance
    new HandoverHolds({ store }).holdAfterHandover('u-1', { ...nightly, ownerBootId })
    expect([store, successor, third].map(refused)).toEqual([true, true, false])
  })

  test('the hold file is what the protocol says', () => {
    const { clock, store } = twoInstances()
    new HandoverHolds({ store }).holdAfterHandover('u-1', nightly)
    expect(readdirSync(store.folder)).toEqual(['u-1.hold'])
    expect(JSON.parse(readFileSync(holdFileOf(store, 'u-1'), 'utf8'))).toEqual({
      until_boot_ms: clock.bootMs() + 30_000,
      host_boot_id: host.hostBootId,
      to_channel: 'nightly',
      to_version: '2.0.0',
      to_boot_id: ''
    })
  })

  test('a disk that fails costs the file, not the hold of this instance', () => {
    const { store, third } = twoInstances()
    mkdirSync(holdFileOf(store, 'u-1'))
    const faults: string[] = []
    const holds = new HandoverHolds({ store, onFault: (uid) => faults.push(uid) })
    holds.holdAfterHandover('u-1', nightly)
    expect(faults).toEqual(['u-1'])
    expect(holds.refusalFor(agent)?.kind).toBe('taken-over')
    expect(refused(third)).toBe(false)
    expect(readdirSync(store.folder)).toEqual(['u-1.hold'])
  })

  test('a take-over that a person starts ends the hold, in memory and on the disk', () => {
    const { store, third } = twoInstances()
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    holds.clearHandoverHold('u-1')
    expect(holds.refusalFor(agent)).toBeUndefined()
    expect(refused(third)).toBe(false)
    expect(readdirSync(store.folder)).toEqual([])
    holds.clearHandoverHold('u-1')
  })

  test('a take-over that a person starts ends the hold of another instance as well', () => {
    const { store, third } = twoInstances()
    place(store, 'u-1')
    const holds = new HandoverHolds({ store: third })
    expect(holds.refusalFor(agent)?.kind).toBe('taken-over')
    holds.clearHandoverHold('u-1')
    expect(holds.refusalFor(agent)).toBeUndefined()
  })

  test('nothing was handed over after all: the hold comes down', () => {
    const { store, third } = twoInstances()
    const holds = new HandoverHolds({ store })
    const placed = holds.holdAfterHandover('u-1', nightly)
    placed.withdraw()
    placed.withdraw()
    expect(holds.refusalFor(agent)).toBeUndefined()
    expect(refused(third)).toBe(false)
  })

  test('withdrawing leaves a hold that was placed since', async () => {
    const { clock, store, third } = twoInstances()
    const holds = new HandoverHolds({ store })
    const first = holds.holdAfterHandover('u-1', nightly)
    await clock.advance(1_000)
    holds.holdAfterHandover('u-1', { channel: 'dev', version: '3.0.0' })
    first.withdraw()
    expect(holds.refusalFor(agent)?.holder?.channel).toBe('dev')
    expect(refused(third)).toBe(true)
  })

  test('what cannot be a UID is said at once', () => {
    const { store } = twoInstances()
    const holds = new HandoverHolds({ store })
    for (const uid of ['', '../u-1', 'a/b']) {
      expect(() => holds.holdAfterHandover(uid, nightly)).toThrow(RangeError)
      expect(() => holds.clearHandoverHold(uid)).toThrow(RangeError)
    }
  })
})

describe('a reservation by whoever takes an agent over', () => {
  const reserver = (store: LeaseStore) => new HandoverHolds({ store })
  const alone = ({ instance }: LeaseStore) => ({ ...nightly, ownerBootId: instance.ownerBootId })

  test('keeps the agent for its channel and version, and ends whatever kept it for others', () => {
    const { store, successor, third } = twoInstances()
    reserver(store).holdAfterHandover('u-1', { channel: 'dev', version: '2.0.0' })
    reserver(successor).reserve('u-1', nightly)
    expect([store, successor, third].map(refused)).toEqual([true, false, true])
  })

  test('ends what its own memory kept for somebody else', () => {
    const { store } = twoInstances()
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    holds.reserve('u-1', store.instance)
    expect(holds.refusalFor(agent)).toBeUndefined()
  })

  test('made by another process for this one counts more than what this one remembers', async () => {
    const { clock, store, successor } = twoInstances()
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    await clock.advance(5_000)
    const { channel, version } = store.instance
    reserver(store).reserve('u-1', { channel, version })
    expect(holds.refusalFor(agent)).toBeUndefined()
    expect(refused(successor)).toBe(true)
  })

  test('from before a hand-over counts no more, even if the disk failed at the hand-over', async () => {
    const { clock, store } = twoInstances()
    const { channel, version } = store.instance
    reserver(store).reserve('u-1', { channel, version })
    const before = readFileSync(holdFileOf(store, 'u-1'))
    await clock.advance(5_000)
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    writeFileSync(holdFileOf(store, 'u-1'), before)
    expect(holds.refusalFor(agent)?.holder?.channel).toBe('nightly')
  })

  test('for one process stays with that process when the holder hands the agent over to its channel', async () => {
    const { clock, store, successor } = twoInstances()
    const neighbour = storeOf(
      join(store.folder, '..', '..', '..'),
      { pid: process.pid, ...nightly },
      { clock }
    )
    expect(neighbour.folder).toBe(store.folder)
    reserver(successor).reserve('u-1', alone(successor))
    await clock.advance(5_000)
    reserver(store).holdAfterHandover('u-1', nightly)
    expect([successor, neighbour].map(refused)).toEqual([false, true])
    expect(readHold(neighbour, 'u-1')?.untilBootMs).toBe(clock.bootMs() + 30_000)
    // Another successor is another matter.
    reserver(store).holdAfterHandover('u-1', { channel: 'dev', version: '2.0.0' })
    expect([successor, neighbour].map(refused)).toEqual([true, true])
  })

  test('is withdrawn, though the holder has renewed it', () => {
    const { store, successor, third } = twoInstances()
    const reservation = reserver(successor).reserve('u-1', alone(successor))
    reserver(store).holdAfterHandover('u-1', nightly)
    expect(refused(third)).toBe(true)
    reservation.withdraw()
    expect(refused(third)).toBe(false)
    expect(readdirSync(store.folder)).toEqual([])
    reservation.withdraw()
  })

  test('is withdrawn with the hold of a holder whose build does not keep what was reserved', () => {
    const { store, successor, third } = twoInstances()
    const reservation = reserver(successor).reserve('u-1', nightly)
    const { reservation: _, ...plain } = JSON.parse(readFileSync(holdFileOf(store, 'u-1'), 'utf8'))
    writeFileSync(
      holdFileOf(store, 'u-1'),
      JSON.stringify({ ...plain, until_boot_ms: plain.until_boot_ms - 1 })
    )
    expect(refused(third)).toBe(true)
    reservation.withdraw()
    expect(readdirSync(store.folder)).toEqual([])
  })

  test('taken back leaves what stood before as it was, in the file and in memory', async () => {
    const { clock, store, successor, third } = twoInstances()
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly)
    const before = readFileSync(holdFileOf(store, 'u-1'), 'utf8')
    await clock.advance(5_000)
    const reservation = holds.reserve('u-1', store.instance)
    expect(holds.refusalFor(agent)).toBeUndefined()
    expect([successor, third].map(refused)).toEqual([true, true])
    reservation.withdraw()
    expect(readFileSync(holdFileOf(store, 'u-1'), 'utf8')).toBe(before)
    expect(holds.refusalFor(agent)?.retryAfterMs).toBe(25_000)
  })

  test('taken back leaves what was reserved since, by another process of the same channel too', () => {
    const { clock, store, successor, third } = twoInstances()
    const first = reserver(successor).reserve('u-1', alone(successor))
    const root = join(store.folder, '..', '..', '..')
    const neighbour = storeOf(root, { pid: process.pid, ...nightly }, { clock })
    reserver(neighbour).reserve('u-1', alone(neighbour))
    first.withdraw()
    expect([store, successor, neighbour, third].map(refused)).toEqual([true, true, false, true])
  })

  test('two that are withdrawn leave nothing, in either order', () => {
    for (const order of [0, 1]) {
      const { store, successor, third } = twoInstances()
      const both = [
        reserver(successor).reserve('u-1', nightly),
        reserver(third).reserve('u-1', third.instance)
      ]
      both[order]?.withdraw()
      expect(refused([third, successor][order] ?? store)).toBe(false)
      both[1 - order]?.withdraw()
      expect(readdirSync(store.folder)).toEqual([])
    }
  })

  test('of several that began at once the first stands, and the other is told whose it is', () => {
    const { store, successor, third } = twoInstances()
    const [one, other] = [
      reserver(successor).newReservation('u-1', alone(successor)),
      reserver(third).newReservation('u-1', third.instance)
    ]
    expect(one.place()).toEqual({ kind: 'reserved' })
    expect(other.place()).toMatchObject({ kind: 'outrun', by: nightly })
    other.withdraw()
    expect([store, successor, third].map(refused)).toEqual([true, false, true])
  })

  test.each([
    [false, ['outrun', 'reserved'], [true, true, false]],
    [true, ['reserved', 'outrun'], [true, false, true]]
  ])(
    'that another person has set aside is confirmed only if the holder let go for us: %s',
    (letGoForUs, outcomes, refusals) => {
      const { store, successor, third } = twoInstances()
      const one = reserver(successor).reserve('u-1', nightly)
      const other = reserver(third).reserve('u-1', third.instance)
      const confirmed = [one.confirm({ letGoForUs }), other.confirm({ letGoForUs: false })]
      expect(confirmed.map(({ kind }) => kind)).toEqual(outcomes)
      const loser = outcomes[0] === 'outrun' ? one : other
      loser.withdraw()
      expect([store, successor, third].map(refused)).toEqual(refusals)
    }
  )

  test('stands again where the holder has handed over nothing; with those who asked it goes', () => {
    const { store, successor, third } = twoInstances()
    reserver(successor).reserve('u-1', alone(successor))
    const before = readFileSync(holdFileOf(store, 'u-1'), 'utf8')
    const holds = new HandoverHolds({ store })
    holds.holdAfterHandover('u-1', nightly).withdraw()
    expect(readFileSync(holdFileOf(store, 'u-1'), 'utf8')).toBe(before)
    holds.holdAfterHandover('u-1', nightly).drop()
    expect([store, third].map(refused)).toEqual([false, false])
    expect(readdirSync(store.folder)).toEqual([])
  })

  test('cannot be made while another process is stopped in the middle of one: nothing is written unseen', () => {
    const { store, successor } = twoInstances()
    const faults: unknown[] = []
    const holds = new HandoverHolds({ store: successor, onFault: (_, fault) => faults.push(fault) })
    lockingHolds(store.folder, () => holds.reserve('u-1', nightly))
    expect(faults).toMatchObject([{ message: expect.stringContaining('locked') }])
    expect(readdirSync(store.folder)).toEqual([])
  })

  test('makes the folder where there has been no lease yet, and tells if it cannot be written', () => {
    const store = storeOf(sharedRoot(), { pid: process.pid, channel: 'nightly', version: '2.0.0' })
    const faults: string[] = []
    const holds = new HandoverHolds({ store, onFault: (uid) => faults.push(uid) })
    holds.reserve('u-1', nightly)
    expect(readdirSync(store.folder)).toEqual(['u-1.hold'])
    mkdirSync(holdFileOf(store, 'u-2'))
    holds.reserve('u-2', nightly)
    expect(faults).toEqual(['u-2'])
    expect(() => holds.reserve('../u-1', nightly)).toThrow(RangeError)
  })
})

describe('the hold file', () => {
  test('is not read through a link, nor where something odd stands in its place', () => {
    const { store, third } = twoInstances()
    place(store, 'u-2')
    symlinkSync(holdFileOf(store, 'u-2'), holdFileOf(store, 'u-1'))
    mkdirSync(holdFileOf(store, 'u-3'))
    writeFileSync(holdFileOf(store, 'u-4'), `${readFileSync(holdFileOf(store, 'u-2'))}${' '.repeat(20_000)}`)
    expect(readHold(third, 'u-2')).toBeDefined()
    for (const uid of ['u-1', 'u-3', 'u-4', 'u-5']) expect(readHold(third, uid)).toBeUndefined()
  })

  test('of another boot is ignored', () => {
    const { store, third } = twoInstances()
    place(store, 'u-1')
    const text = readFileSync(holdFileOf(store, 'u-1'), 'utf8')
    writeFileSync(holdFileOf(store, 'u-1'), text.replace(host.hostBootId, 'another-boot'))
    expect(readHold(third, 'u-1')).toBeUndefined()
  })

  test('that has expired is dropped whole by whoever writes or claims next, and by no look', async () => {
    const { clock, store, successor, third } = twoInstances()
    place(store, 'u-1')
    new HandoverHolds({ store: third }).reserve('u-1', third.instance)
    await clock.advance(31_000)
    const before = readFileSync(holdFileOf(store, 'u-1'))
    expect([store, successor, third].map(refused)).toEqual([false, false, false])
    expect(readFileSync(holdFileOf(store, 'u-1'))).toEqual(before)
    place(store, 'u-1')
    expect(JSON.parse(readFileSync(holdFileOf(store, 'u-1'), 'utf8'))).not.toHaveProperty('before')
    const holds = new HandoverHolds({ store: third })
    holds.dropExpired('u-1')
    expect(existsSync(holdFileOf(store, 'u-1'))).toBe(true)
    await clock.advance(31_000)
    holds.dropExpired('u-1')
    expect(existsSync(holdFileOf(store, 'u-1'))).toBe(false)
  })

  test('remembers no more than a few', () => {
    const { store } = twoInstances()
    for (let index = 0; index < 50; index++) {
      new HandoverHolds({ store }).holdAfterHandover('u-1', { channel: `c${index}`, version: '1' })
    }
    expect(readFileSync(holdFileOf(store, 'u-1')).length).toBeLessThan(16 * 1024)
    expect(readHold(store, 'u-1')?.toChannel).toBe('c49')
  })
})

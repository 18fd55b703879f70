/** Who gets a lease, and what is on the disk then. Real files, one clock that only moves when told to. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LARGEST_EPOCH } from '../src/epoch-file.js'
import { LeaseStore } from '../src/index.js'
import {
  claimed,
  ELSEWHERE,
  granted,
  HERE,
  instance,
  olderRecord,
  party,
  request,
  TTL_MS,
  UID
} from './harness/parties.js'

/** A pid that was just given back. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '0']).pid
}

describe('the first claim', () => {
  it('writes the lease, the counter and the lock, byte for byte', async () => {
    const { clock, files, store, root } = party()
    const me = {
      ownerBootId: 'bbbbbbbb-0000-4000-8000-000000000000',
      channel: 'stable',
      version: '1.2.3',
      pid: process.pid,
      pidStartTicks: 987_654
    }
    const lease = await claimed(store({ instance: me }), { sessionId: 'session-9' })
    expect(readFileSync(files.lease, 'utf8')).toBe(`{
  "instance_id": "${UID}",
  "owner_boot_id": "bbbbbbbb-0000-4000-8000-000000000000",
  "block_id": "block-1",
  "session_id": "session-9",
  "pid": ${process.pid},
  "acquired_at_ms": 1700000000000,
  "renewed_at_ms": 1700000000000,
  "epoch": 1,
  "hostname": "here",
  "pid_start_s": 0,
  "channel": "stable",
  "version": "1.2.3",
  "claim_id": "${lease.claimId}",
  "host_boot_id": "11111111-1111-4111-8111-111111111111",
  "pid_ns": 4026531836,
  "time_ns": 4026531834,
  "pid_start_ticks": 987654,
  "renewed_boot_ms": 1000000,
  "ttl_ms": 15000,
  "driver_pid": 0,
  "driver_start_ticks": 0
}
`)
    expect(readFileSync(files.epoch, 'utf8')).toBe('1\n')
    expect(readFileSync(files.lock, 'utf8')).toBe('')
    expect(readdirSync(`${root}/leases`)).toEqual([`${UID}.epoch`, `${UID}.lease.json`, `${UID}.lock`])
    expect(lease).toEqual({
      uid: UID,
      ownerBootId: me.ownerBootId,
      blockId: 'block-1',
      claimId: lease.claimId,
      epoch: 1,
      acquiredAtMs: clock.wallMs(),
      ttlMs: 15_000,
      renewedBootMs: clock.bootMs()
    })
    expect(lease.claimId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('says null for no session', async () => {
    const { store, files } = party()
    await claimed(store())
    expect(files.record()).toMatchObject({ session_id: null })
  })

  it('says its pid only to those who share its namespace where that is not the first one', async () => {
    const { store, files, root } = party()
    const host = { ...HERE, pidNs: 4_026_532_100, initialPidNs: false }
    await claimed(store({ host }))
    expect(files.record()).toMatchObject({ pid: 0, pid_ns: 4_026_532_100, pid_in_ns: process.pid })
    expect(readFileSync(files.lease, 'utf8')).toMatch(/"driver_start_ticks": 0,\n {2}"pid_in_ns": \d+\n}\n$/)
    expect(await store().claim(request())).toMatchObject({ kind: 'refused', holder: { pid: process.pid } })
    expect(readdirSync(`${root}/leases`)).toHaveLength(3)
  })

  it('makes the folders on the way, for the owner alone', async () => {
    const { root, clock } = party()
    const store = LeaseStore.open(`${root}/deep/er/registry`, { clock, host: HERE, instance: instance() })
    await claimed(store)
    expect(spawnSync('stat', ['-c', '%a', `${root}/deep`, store.folder]).stdout.toString()).toBe('700\n700\n')
  })

  it('leaves nothing but its three files, names beyond ASCII included', async () => {
    const { store, root } = party()
    const first = store({ instance: { ...instance(), channel: 'größe 🤖' } })
    granted(await first.claim(request({ agent: { uid: '代理' }, blockId: 'ü' })))
    expect(readdirSync(`${root}/leases`).sort()).toEqual(['代理.epoch', '代理.lease.json', '代理.lock'])
    expect(first.list()[0]?.holder).toMatchObject({ channel: 'größe 🤖', blockId: 'ü' })
  })
})

describe('a second claim', () => {
  it('of another instance is refused while the holder lives, and says who that is', async () => {
    const { store, clock, files } = party()
    await claimed(store({ instance: instance('beta') }))
    const before = readFileSync(files.lease)
    await clock.advance(TTL_MS - 1)
    expect(await store().claim(request())).toEqual({
      kind: 'refused',
      holder: {
        place: 'this-host',
        hostname: 'here',
        channel: 'beta',
        version: '1.2.3',
        pid: process.pid,
        acquiredAtMs: 1_700_000_000_000,
        epoch: 1,
        blockId: 'block-1'
      }
    })
    expect(readFileSync(files.lease)).toEqual(before)
    expect(readFileSync(files.epoch, 'utf8')).toBe('1\n')
  })

  it('succeeds under the next epoch once the lease has expired', async () => {
    const { store, clock } = party()
    const first = await claimed(store())
    await clock.advance(TTL_MS)
    const result = await store().claim(request())
    expect(granted(result).epoch).toBe(2)
    expect(result).toMatchObject({
      previous: { why: 'expired', claimId: first.claimId, epoch: 1, driverPid: 0, driverStartTicks: 0 }
    })
  })

  it('succeeds at once if the holder is dead', async () => {
    const { store } = party()
    await claimed(store({ instance: { ...instance(), pid: deadPid(), pidStartTicks: 1 } }))
    const result = await store().claim(request())
    expect(result).toMatchObject({ kind: 'granted', previous: { why: 'dead', epoch: 1 } })
    expect(granted(result).epoch).toBe(2)
  })

  it('succeeds at once if the holder’s pid was given to another process', async () => {
    const { store } = party()
    const me = instance()
    await claimed(store({ instance: { ...me, pidStartTicks: me.pidStartTicks + 1 } }))
    expect(await store().claim(request())).toMatchObject({ kind: 'granted', previous: { why: 'dead' } })
  })

  it('succeeds at once after a release', async () => {
    const { store } = party()
    const first = store()
    await first.release(await claimed(first))
    const result = await store().claim(request())
    expect(result).not.toHaveProperty('previous')
    expect(granted(result).epoch).toBe(2)
  })

  it('of a holder elsewhere whose clock is off is unknown, until a TTL of watching has told', async () => {
    const { store, clock } = party()
    await claimed(store({ host: ELSEWHERE }))
    await clock.advance(0)
    clock.stepWall(3_600_000)
    const second = store()
    const unknown = await second.claim(request())
    expect(unknown).toMatchObject({ kind: 'unknown', retryAfterMs: TTL_MS, holder: { place: 'lan' } })
    await clock.advance(TTL_MS - 1)
    expect(await second.claim(request())).toMatchObject({ kind: 'unknown', retryAfterMs: 1 })
    await clock.advance(1)
    expect(await second.claim(request())).toMatchObject({ kind: 'granted', previous: { why: 'expired' } })
  })

  it('of a holder elsewhere that renews is refused, however old it looks', async () => {
    const { store, clock } = party()
    const holder = store({ host: ELSEWHERE })
    const lease = await claimed(holder)
    clock.stepWall(3_600_000)
    const second = store()
    await second.claim(request())
    await clock.advance(5_000)
    await holder.renew(lease)
    clock.stepWall(-365 * 86_400_000)
    expect(await second.claim(request())).toMatchObject({ kind: 'refused' })
    await clock.advance(TTL_MS - 1)
    expect(await second.claim(request())).toMatchObject({ kind: 'refused' })
  })

  it('obeys the TTL of the record, not its own', async () => {
    const { store, clock } = party()
    await claimed(store({ ttlMs: 60_000 }))
    await clock.advance(59_999)
    expect(await store({ ttlMs: 500 }).claim(request())).toMatchObject({ kind: 'refused' })
    await clock.advance(1)
    expect(await store({ ttlMs: 500 }).claim(request())).toMatchObject({ kind: 'granted' })
  })
})

describe('a claim by the holder itself', () => {
  it('for the same block is granted with the same epoch and start, and a new claim id', async () => {
    const { store, clock } = party()
    const mine = store()
    const first = await claimed(mine)
    await clock.advance(2_000)
    const result = await mine.claim(request())
    const second = granted(result)
    expect(result).toMatchObject({ previous: { why: 'reclaimed', claimId: first.claimId } })
    expect(second.claimId).not.toBe(first.claimId)
    expect(second).toMatchObject({
      epoch: first.epoch,
      acquiredAtMs: first.acquiredAtMs,
      renewedBootMs: first.renewedBootMs + 2_000
    })
    expect(await mine.verify(first)).toMatchObject({ kind: 'lost', loss: { why: 'reclaimed-here' } })
    expect(await mine.renew(first)).toMatchObject({ kind: 'lost', loss: { why: 'reclaimed-here' } })
    expect(await mine.release(first)).toEqual({ kind: 'not-held' })
    expect(await mine.verify(second)).toEqual({ kind: 'held' })
  })

  it('works from another store of the same instance, and after the lease expired', async () => {
    const { store, clock } = party()
    const me = instance()
    const first = await claimed(store({ instance: me }))
    await clock.advance(10 * TTL_MS)
    expect(await claimed(store({ instance: me }))).toMatchObject({
      epoch: 1,
      acquiredAtMs: first.acquiredAtMs
    })
  })

  it('gets a new epoch if the caller has seen a higher one elsewhere', async () => {
    const { store } = party()
    const mine = store()
    await claimed(mine)
    expect(await claimed(mine, { epochFloor: 1 })).toMatchObject({ epoch: 1 })
    expect(await claimed(mine, { epochFloor: 40 })).toMatchObject({ epoch: 41 })
  })

  it('for another block is refused until the lease has expired', async () => {
    const { store, clock } = party()
    const mine = store()
    await claimed(mine)
    const refused = await mine.claim(request({ blockId: 'block-2' }))
    expect(refused).toMatchObject({ kind: 'refused', holder: { blockId: 'block-1' } })
    await clock.advance(TTL_MS)
    expect(await claimed(mine, { blockId: 'block-2' })).toMatchObject({ epoch: 2 })
  })

  it('for any block matches a record that names none', async () => {
    const { store, files } = party()
    const mine = store()
    await claimed(mine)
    files.edit({ block_id: '' })
    expect(await claimed(mine, { blockId: 'block-2' })).toMatchObject({ epoch: 1, blockId: 'block-2' })
  })
})

describe('the epoch', () => {
  it('grows across release, expiry, death and a floor', async () => {
    const { store, clock } = party()
    const epochs: number[] = []
    const first = store()
    const released = await claimed(first)
    epochs.push(released.epoch)
    await first.release(released)
    epochs.push((await claimed(store())).epoch)
    await clock.advance(TTL_MS)
    epochs.push((await claimed(store({ instance: { ...instance(), pid: deadPid() } }))).epoch)
    epochs.push((await claimed(store(), { epochFloor: 100 })).epoch)
    expect(epochs).toEqual([1, 2, 3, 101])
  })

  it('goes above the Unix time and everything known when the counter is lost', async () => {
    const { store, clock, files } = party()
    const first = store()
    const lease = await claimed(first)
    await first.release(lease)
    rmSync(files.epoch)
    const epoch = Math.floor(clock.wallMs() / 1_000) + 1
    expect(await claimed(store())).toMatchObject({ epoch })
    expect(readFileSync(files.epoch, 'utf8')).toBe(`${epoch}\n`)
  })

  it.each(['', '\0\0', 'x', '9007199254740991\n', '9007199254740992\n'])(
    'goes on above the lease file when the counter says %j',
    async (damage) => {
      const { store, clock, files } = party()
      await claimed(store())
      const epoch = Math.floor(clock.wallMs() / 1_000) + 500
      files.edit({ epoch })
      writeFileSync(files.epoch, damage)
      await clock.advance(TTL_MS)
      expect(await claimed(store())).toMatchObject({ epoch: epoch + 1 })
    }
  )

  it('goes on above the counter when the lease file is behind it', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    writeFileSync(files.epoch, '70\n')
    await clock.advance(TTL_MS)
    expect(await claimed(store())).toMatchObject({ epoch: 71 })
  })

  it('of a lease file at 2^53-1 is damage, like a counter there, and claims go on after it', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    files.edit({ epoch: LARGEST_EPOCH + 1 })
    await clock.advance(TTL_MS)
    const { epoch } = await claimed(store())
    expect(epoch).toBe(Math.floor(clock.wallMs() / 1_000) + 1)
    writeFileSync(files.epoch, `${LARGEST_EPOCH + 1}\n`)
    await clock.advance(TTL_MS)
    expect((await claimed(store())).epoch).toBeGreaterThan(epoch)
  })

  it('of a lease file beyond that is not read: once it has stood still for a TTL, claims go on above the counter', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    files.edit({ epoch: LARGEST_EPOCH + 2 })
    const next = store()
    expect((await next.claim(request())).kind).toBe('unknown')
    await clock.advance(TTL_MS)
    expect(await claimed(next)).toMatchObject({ epoch: 2 })
  })

  it.each(['lease', 'counter'])('of a %s at 2^53-2 is followed', async (where) => {
    const { store, clock, files } = party()
    await claimed(store())
    if (where === 'lease') files.edit({ epoch: LARGEST_EPOCH })
    else writeFileSync(files.epoch, `${LARGEST_EPOCH}\n`)
    await clock.advance(TTL_MS)
    expect((await claimed(store())).epoch).toBe(2 ** 53 - 1)
  })

  it('that is damaged is not kept by a claim of the holder itself', async () => {
    const { store, clock, files } = party()
    const mine = store()
    await claimed(mine)
    files.edit({ epoch: LARGEST_EPOCH + 1 })
    expect((await claimed(mine)).epoch).toBe(Math.floor(clock.wallMs() / 1_000) + 1)
  })

  it('is not lost with a lock file that somebody removed', async () => {
    const { store, files } = party()
    const first = store()
    const lease = await claimed(first)
    rmSync(files.lock)
    await first.release(lease)
    expect(existsSync(files.lock)).toBe(true)
    expect(await claimed(store())).toMatchObject({ epoch: 2 })
  })

  it('does not begin again when the lock and the counter of a held key are removed', async () => {
    const { store, clock, files } = party()
    const first = store()
    const lease = await claimed(first)
    rmSync(files.lock)
    rmSync(files.epoch)
    await first.release(lease)
    const { epoch } = await claimed(store())
    expect(epoch).toBe(Math.floor(clock.wallMs() / 1_000) + 1)
  })

  it('does not begin again where only the lease file is left', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    rmSync(files.lock)
    rmSync(files.epoch)
    await clock.advance(TTL_MS)
    const { epoch } = await claimed(store())
    expect(epoch).toBe(Math.floor(clock.wallMs() / 1_000) + 1)
  })

  it('of a record that names none is the next one', async () => {
    const { store, files } = party()
    const mine = store()
    await claimed(mine)
    files.edit({ epoch: 0 })
    expect(await claimed(mine)).toMatchObject({ epoch: 2 })
  })
})

describe('an older build’s lease', () => {
  it('is refused while it looks fresh, watched when it does not, and followed by its next epoch', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    const put = (fields: Record<string, unknown>) =>
      writeFileSync(files.lease, `${JSON.stringify(olderRecord(fields), undefined, 2)}\n`)
    const mine = store()
    put({ renewed_at_ms: clock.wallMs(), pid: process.pid })
    expect(await mine.claim(request())).toMatchObject({ kind: 'refused', holder: { version: '0.9.0' } })
    await clock.advance(TTL_MS)
    expect(await mine.claim(request())).toMatchObject({ kind: 'granted', lease: { epoch: 5 } })
  })

  it('of this host is taken at once if its pid is gone', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    const record = olderRecord({ renewed_at_ms: clock.wallMs(), pid: deadPid() })
    writeFileSync(files.lease, JSON.stringify(record))
    expect(await store().claim(request())).toMatchObject({ kind: 'granted', previous: { why: 'dead' } })
  })
})

describe('the processes of the claim before', () => {
  it('are ended first, without the lock, and then the claim is judged anew', async () => {
    const { store, clock, files } = party()
    const holder = store()
    const lease = await claimed(holder)
    await holder.renew(lease, { pid: 4_242, startTicks: 99 })
    await clock.advance(TTL_MS)
    const asked: unknown[] = []
    const second = store({
      endPrevious: async (previous) => {
        asked.push(previous)
        // The lock is free: others may work meanwhile.
        expect(await holder.verify(lease)).toEqual({ kind: 'held' })
        return { kind: 'ended' }
      }
    })
    expect(await second.claim(request())).toMatchObject({ kind: 'granted', lease: { epoch: 2 } })
    expect(asked).toEqual([
      {
        uid: UID,
        claimId: lease.claimId,
        epoch: 1,
        holder: expect.objectContaining({ blockId: 'block-1' }),
        why: 'expired',
        driverPid: 4_242,
        driverStartTicks: 99
      }
    ])
    expect(files.record()).toMatchObject({ epoch: 2 })
  })

  it('that remain make the claim refused, with their names', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const processes = [{ pid: 1, command: 'init', why: 'it is pid 1' }]
    const second = store({ endPrevious: async () => ({ kind: 'remaining', processes }) })
    expect(await second.claim(request())).toMatchObject({ kind: 'refused', remaining: processes })
    expect(files.record()).toMatchObject({ epoch: 1 })
  })

  it('are asked about again if another claim took the place meanwhile', async () => {
    const { store, clock } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const asked: string[] = []
    const second = store({
      endPrevious: async ({ claimId }) => {
        asked.push(claimId)
        if (asked.length === 1) {
          await claimed(store())
          await clock.advance(TTL_MS)
        }
        return { kind: 'ended' }
      }
    })
    expect(await second.claim(request())).toMatchObject({ kind: 'granted', lease: { epoch: 3 } })
    expect(new Set(asked).size).toBe(2)
  })

  it('are not ended on behalf of a claim that is then refused: the holder came back', async () => {
    const { store, clock } = party()
    const holder = store()
    const lease = await claimed(holder)
    await clock.advance(TTL_MS)
    const second = store({
      endPrevious: async () => {
        await holder.renew(lease)
        return { kind: 'ended' }
      }
    })
    expect(await second.claim(request())).toMatchObject({ kind: 'refused' })
    expect(await holder.verify(lease)).toEqual({ kind: 'held' })
  })

  it('of an older build carry no mark: nobody is asked', async () => {
    const { store, files } = party()
    await claimed(store())
    writeFileSync(files.lease, JSON.stringify(olderRecord({ pid: deadPid(), claim_id: '' })))
    const second = store({ endPrevious: () => Promise.reject(new Error('it was asked')) })
    expect(await second.claim(request())).toMatchObject({ kind: 'granted', previous: { claimId: '' } })
  })

  it('that could not be ended because of an error leave the lease as it was', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const broken = new Error('no /proc')
    const second = store({ endPrevious: () => Promise.reject(broken) })
    await expect(second.claim(request())).rejects.toBe(broken)
    expect(files.record()).toMatchObject({ epoch: 1 })
  })

  it('aborted meanwhile, the claim takes nothing', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    await clock.advance(TTL_MS)
    const abort = new AbortController()
    const second = store({
      endPrevious: async () => {
        abort.abort(new Error('changed my mind'))
        return { kind: 'ended' }
      }
    })
    await expect(second.claim(request({ signal: abort.signal }))).rejects.toThrow('changed my mind')
    expect(files.record()).toMatchObject({ epoch: 1 })
  })
})

describe('two keys that differ only in letter case', () => {
  it('never both exist: the second is refused, naming the first', async () => {
    const { store } = party()
    await claimed(store(), { agent: { uid: 'Agent' } })
    await expect(store().claim(request({ agent: { uid: 'aGENT' } }))).rejects.toMatchObject({
      code: 'uid-case-conflict',
      message: expect.stringContaining('"Agent"')
    })
    expect(store().list()).toHaveLength(1)
  })

  it('not even after the first was released', async () => {
    const { store, root } = party()
    const first = store()
    await first.release(await claimed(first, { agent: { uid: 'Agent' } }))
    await expect(store().claim(request({ agent: { uid: 'agent' } }))).rejects.toMatchObject({
      code: 'uid-case-conflict'
    })
    expect(readdirSync(`${root}/leases`).sort()).toEqual(['Agent.epoch', 'Agent.lock'])
  })
})

describe('a mistake of the caller', () => {
  it.each([
    ['a UID that leaves the folder', { agent: { uid: '../x' } }, RangeError],
    ['a UID with NUL', { agent: { uid: 'a\0b' } }, RangeError],
    ['no UID', { agent: {} }, TypeError],
    ['no block', { blockId: undefined }, TypeError],
    ['a block that is too long', { blockId: 'x'.repeat(1_025) }, RangeError],
    ['a session that is no text', { sessionId: 7 }, TypeError],
    ['a floor below 0', { epochFloor: -1 }, RangeError],
    ['a floor with a fraction', { epochFloor: 1.5 }, RangeError],
    ['a floor that could not be followed', { epochFloor: LARGEST_EPOCH + 1 }, RangeError]
  ])('is told before any file is touched: %s', async (_, fields, error) => {
    const { store, root } = party()
    await expect(store().claim(request(fields as object))).rejects.toThrow(error)
    expect(readdirSync(root)).toEqual([])
  })

  it('in the options is told by open', () => {
    expect(() => LeaseStore.open('')).toThrow(TypeError)
    expect(() => LeaseStore.open('a\0b')).toThrow(TypeError)
    expect(() => LeaseStore.open(7 as unknown as string)).toThrow(TypeError)
    expect(() => LeaseStore.open('x', { ttlMs: 499 })).toThrow(RangeError)
    expect(() => LeaseStore.open('x', { ttlMs: 600_001 })).toThrow(RangeError)
    expect(() => LeaseStore.open('x', { lockWaitMs: -1 })).toThrow(RangeError)
    expect(() => LeaseStore.open('x', { lockWaitMs: Number.NaN })).toThrow(RangeError)
  })
})

describe('opening', () => {
  it('touches nothing, and does not follow a later change of the working directory', () => {
    const { root } = party()
    const before = process.cwd()
    try {
      process.chdir(root)
      const store = LeaseStore.open('registry', { host: HERE, instance: instance() })
      process.chdir('/')
      expect(store.pathOf(UID)).toBe(`${root}/registry/leases/${UID}.lease.json`)
    } finally {
      process.chdir(before)
    }
    expect(readdirSync(root)).toEqual([])
  })
})

describe('a claim by the holder itself while something of the claim before still runs', () => {
  it('is refused each time, and the file still names that claim: it is its only trace', async () => {
    const all = party()
    const owner = instance()
    const first = await claimed(all.store({ instance: owner }))
    const still = { pid: 4242, command: 'su nobody', why: 'another-user' } as const
    const again = all.store({
      instance: owner,
      endPrevious: async () => ({ kind: 'remaining', processes: [still] })
    })
    for (let times = 0; times < 2; times++) {
      expect(await again.claim(request())).toMatchObject({ kind: 'refused', remaining: [still] })
      expect(all.files.record()).toMatchObject({ claim_id: first.claimId })
    }
  })
})

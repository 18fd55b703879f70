/** What a holder can do with its lease: renew, verify, act under its protection, release. */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { claimed, instance, party, request, TTL_MS, UID } from './harness/parties.js'

describe('renewing', () => {
  it('moves both times on and changes nothing else', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    const before = files.record()
    await clock.advance(5_000)
    const result = await mine.renew(lease)
    expect(result).toEqual({
      kind: 'renewed',
      lease: { ...lease, renewedBootMs: lease.renewedBootMs + 5_000 }
    })
    expect(files.record()).toEqual({
      ...before,
      renewed_at_ms: Number(before.renewed_at_ms) + 5_000,
      renewed_boot_ms: Number(before.renewed_boot_ms) + 5_000
    })
  })

  it('keeps the file and its length', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    const { ino, size } = statSync(files.lease)
    await clock.advance(5_000)
    await mine.renew(lease)
    expect(statSync(files.lease)).toMatchObject({ ino, size })
  })

  it('pads a record that became shorter with spaces before the newline', async () => {
    const { store, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    await mine.renew(lease, { pid: 1_234_567, startTicks: 987_654_321 })
    const { size, ino } = statSync(files.lease)
    await mine.renew(lease, { pid: 0, startTicks: 0 })
    expect(statSync(files.lease)).toMatchObject({ ino, size })
    const text = readFileSync(files.lease, 'utf8')
    expect(text).toMatch(/"driver_start_ticks": 0\n} {14}\n$/)
    await mine.renew(lease, { pid: 7_654_321, startTicks: 123_456_789 })
    expect(statSync(files.lease)).toMatchObject({ ino, size })
    expect(readFileSync(files.lease, 'utf8')).toMatch(/"driver_start_ticks": 123456789\n}\n$/)
  })

  it('replaces the file when the record became longer', async () => {
    const { store, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    const before = statSync(files.lease)
    await mine.renew(lease, { pid: 1_234_567, startTicks: 987_654_321 })
    expect(statSync(files.lease).size).toBe(before.size + 14)
    expect(files.record()).toMatchObject({ driver_pid: 1_234_567, driver_start_ticks: 987_654_321 })
    expect(existsSync(`${files.lease}.tmp`)).toBe(false)
    expect(await mine.verify(lease)).toEqual({ kind: 'held' })
  })

  it('replaces a file of more than one page, of which a kill could leave half a write', async () => {
    const { store, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    files.edit({ future: 'x'.repeat(5_000) })
    const { ino } = statSync(files.lease)
    expect(await mine.renew(lease)).toMatchObject({ kind: 'renewed' })
    expect(statSync(files.lease).ino).not.toBe(ino)
    expect(files.record()).toMatchObject({ future: 'x'.repeat(5_000) })
  })

  it('keeps keys that it does not know, and the driver recorded before', async () => {
    const { store, files, clock } = party()
    const mine = store()
    const lease = await claimed(mine)
    await mine.renew(lease, { pid: 77, startTicks: 88 })
    files.edit({ added_later: { by: 'a newer build' }, zz: 'größe' })
    await clock.advance(1_000)
    await mine.renew(lease)
    expect(files.record()).toMatchObject({
      added_later: { by: 'a newer build' },
      zz: 'größe',
      driver_pid: 77,
      driver_start_ticks: 88,
      renewed_at_ms: clock.wallMs()
    })
  })

  it('works with every lease value of the claim, the first and the latest', async () => {
    const { store, clock } = party()
    const mine = store()
    const first = await claimed(mine)
    await clock.advance(1_000)
    await mine.renew(first)
    await clock.advance(1_000)
    expect(await mine.renew(first)).toMatchObject({ kind: 'renewed' })
    expect(await mine.verify(first)).toEqual({ kind: 'held' })
  })

  it('works from another store, with a lease that went through JSON', async () => {
    const { store } = party()
    const me = instance()
    const lease = JSON.parse(JSON.stringify(await claimed(store({ instance: me }))))
    expect(await store({ instance: me }).renew(lease)).toMatchObject({ kind: 'renewed' })
  })

  it('revives a lease that expired and that nobody took', async () => {
    const { store, clock } = party()
    const mine = store()
    const lease = await claimed(mine)
    clock.suspend(100 * TTL_MS)
    expect(await mine.renew(lease)).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
    expect(await store().claim(request())).toMatchObject({ kind: 'refused' })
  })

  it('counts from before it wrote: others never believe in it for longer than its holder does', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    await clock.advance(3_000)
    const startedMs = clock.bootMs()
    const renewed = await mine.renew(lease)
    expect(renewed).toMatchObject({ lease: { renewedBootMs: startedMs } })
    expect(files.record()).toMatchObject({ renewed_boot_ms: startedMs })
  })

  it.each([
    { pid: -1, startTicks: 0 },
    { pid: 1.5, startTicks: 0 },
    { pid: 2 ** 32, startTicks: 0 },
    { pid: 1, startTicks: -1 },
    { pid: 1, startTicks: Number.NaN }
  ])('refuses a driver that cannot be: %j', async (driver) => {
    const { store, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    const before = readFileSync(files.lease)
    await expect(mine.renew(lease, driver)).rejects.toThrow(RangeError)
    expect(readFileSync(files.lease)).toEqual(before)
  })
})

describe('verifying', () => {
  it('says held, and writes nothing, even after the lease expired', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    const before = readFileSync(files.lease)
    const { mtimeMs } = statSync(files.lease)
    clock.suspend(1_000 * TTL_MS)
    expect(await mine.verify(lease)).toEqual({ kind: 'held' })
    expect(readFileSync(files.lease)).toEqual(before)
    expect(statSync(files.lease).mtimeMs).toBe(mtimeMs)
  })

  it('accepts what an old build left empty', async () => {
    const { store, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    files.edit({ claim_id: '', block_id: '' })
    expect(await mine.verify(lease)).toEqual({ kind: 'held' })
  })
})

describe('a lost lease', () => {
  const losses = {
    taken: 'another instance took it',
    missing: 'its file is gone',
    'folder gone': 'its whole folder is gone',
    unreadable: 'its file cannot be read',
    'a folder': 'a folder is in its place'
  }

  async function lost(how: string) {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    if (how === 'taken') {
      await clock.advance(TTL_MS)
      await claimed(store({ instance: instance('beta') }), { blockId: 'other' })
    }
    if (how === 'missing') rmSync(files.lease)
    if (how === 'folder gone') rmSync(mine.folder, { recursive: true })
    if (how === 'unreadable') writeFileSync(files.lease, '{')
    if (how === 'a folder') {
      rmSync(files.lease)
      mkdirSync(files.lease)
    }
    const why = how === 'folder gone' ? 'missing' : how === 'a folder' ? 'unreadable' : how
    return { mine, lease, files, why }
  }

  it.each(Object.entries(losses))('is told by every call (%s: %s), which writes nothing', async (how) => {
    const { mine, lease, files, why } = await lost(how)
    const before = existsSync(files.lease) ? lstatSync(files.lease) : undefined
    const loss = expect.objectContaining({ why })
    expect(await mine.renew(lease)).toEqual({ kind: 'lost', loss })
    expect(await mine.verify(lease)).toEqual({ kind: 'lost', loss })
    expect(await mine.whileHeld(lease, () => expect.unreachable('it ran'))).toEqual({ kind: 'lost', loss })
    expect(await mine.release(lease)).toEqual({ kind: 'not-held' })
    const after = existsSync(files.lease) ? lstatSync(files.lease) : undefined
    expect(after?.ino).toBe(before?.ino)
    expect(after?.mtimeMs).toBe(before?.mtimeMs)
  })

  it('names who took it', async () => {
    const { mine, lease } = await lost('taken')
    expect(await mine.verify(lease)).toMatchObject({
      loss: { why: 'taken', holder: { channel: 'beta', epoch: 2, blockId: 'other', place: 'this-host' } }
    })
  })
})

describe('releasing', () => {
  it('removes the lease file and keeps the lock and the counter', async () => {
    const { store, files } = party()
    const mine = store()
    expect(await mine.release(await claimed(mine))).toEqual({ kind: 'released' })
    expect(existsSync(files.lease)).toBe(false)
    expect(readFileSync(files.epoch, 'utf8')).toBe('1\n')
    expect(readFileSync(files.lock, 'utf8')).toBe('')
  })

  it('twice is quiet', async () => {
    const { store } = party()
    const mine = store()
    const lease = await claimed(mine)
    await mine.release(lease)
    expect(await mine.release(lease)).toEqual({ kind: 'not-held' })
  })

  it('an older lease never removes a newer one, of whomever', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const older = await claimed(mine)
    await mine.release(older)
    const newer = await claimed(mine)
    expect(await mine.release(older)).toEqual({ kind: 'not-held' })
    expect(await mine.verify(newer)).toEqual({ kind: 'held' })
    await clock.advance(TTL_MS)
    const other = store()
    const theirs = await claimed(other)
    expect(await mine.release(newer)).toEqual({ kind: 'not-held' })
    expect(await other.verify(theirs)).toEqual({ kind: 'held' })
    expect(files.record()).toMatchObject({ claim_id: theirs.claimId })
  })

  it('a lease that expired and that nobody took is fine', async () => {
    const { store, clock } = party()
    const mine = store()
    const lease = await claimed(mine)
    await clock.advance(10 * TTL_MS)
    expect(await mine.release(lease)).toEqual({ kind: 'released' })
  })

  it('creates nothing where nothing is', async () => {
    const { store, root } = party()
    const lease = await claimed(party().store())
    expect(await store().release(lease)).toEqual({ kind: 'not-held' })
    expect(existsSync(`${root}/leases`)).toBe(false)
  })

  it('with a lease value whose UID cannot be one touches nothing', async () => {
    const { store, root } = party()
    const mine = store()
    const lease = { ...(await claimed(mine)), uid: `../leases/${UID}` }
    await expect(mine.release(lease)).rejects.toThrow(RangeError)
    await expect(mine.verify(lease)).rejects.toThrow(RangeError)
    await expect(mine.renew(lease)).rejects.toThrow(RangeError)
    expect(existsSync(`${root}/leases/${UID}.lease.json`)).toBe(true)
  })
})

describe('acting under the lock', () => {
  it('gives back what the section returned', async () => {
    const { store } = party()
    const mine = store()
    expect(await mine.whileHeld(await claimed(mine), () => 42)).toEqual({ kind: 'held', value: 42 })
  })

  it('lets nobody claim before the section ends', async () => {
    const { store, clock, files } = party()
    const mine = store()
    const lease = await claimed(mine)
    await clock.advance(TTL_MS)
    let claim: Promise<unknown> | undefined
    await mine.whileHeld(lease, () => {
      // It tries now, at once, and finds the lock taken.
      claim = store().claim(request())
      expect(files.record()).toMatchObject({ epoch: 1 })
    })
    expect(await claim).toMatchObject({ kind: 'granted', lease: { epoch: 2 } })
    expect(await mine.whileHeld(lease, () => expect.unreachable('it ran'))).toMatchObject({ kind: 'lost' })
  })

  it('passes on what the section throws, and frees the lock', async () => {
    const { store } = party()
    const mine = store({ lockWaitMs: 0 })
    const lease = await claimed(mine)
    const error = Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    const section = () => {
      throw error
    }
    await expect(mine.whileHeld(lease, section)).rejects.toBe(error)
    expect(await mine.verify(lease)).toEqual({ kind: 'held' })
  })
})

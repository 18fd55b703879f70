/**
 * Files in which there is no lease: after a power cut, on a full disk, or put there by somebody. Never free at once, never
 * in the way for ever (R3).
 */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claimed, olderRecord, party, request, TTL_MS } from './harness/parties.js'

type Put = (path: string) => void

const odd: Record<string, Put> = {
  'no JSON': (path) => writeFileSync(path, 'not json'),
  'an empty file': (path) => writeFileSync(path, ''),
  'NUL bytes': (path) => writeFileSync(path, Buffer.alloc(600)),
  'half a record': (path) => writeFileSync(path, JSON.stringify(olderRecord()).slice(0, 200)),
  'a record of another key': (path) => writeFileSync(path, JSON.stringify(olderRecord({ instance_id: 'x' }))),
  'wrong types': (path) => writeFileSync(path, JSON.stringify(olderRecord({ pid: 'one' }))),
  'a required key missing': (path) =>
    writeFileSync(path, JSON.stringify(olderRecord({ renewed_at_ms: undefined }))),
  'no UTF-8': (path) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])),
  'a file of 64 KiB': (path) => writeFileSync(path, JSON.stringify(olderRecord()).padEnd(65_536)),
  'an empty folder': (path) => mkdirSync(path),
  'a folder with something in it': (path) => {
    mkdirSync(path)
    writeFileSync(join(path, 'precious'), 'kept')
  },
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a dangling link': (path) => symlinkSync('/nonexistent/target', path),
  'a link to a file that changes all the time': (path) => symlinkSync('/proc/uptime', path),
  'a link to a record': (path) => {
    const target = `${path}.target`
    writeFileSync(target, JSON.stringify(olderRecord()))
    symlinkSync(target, path)
  },
  'a link to itself': (path) => symlinkSync(path, path)
}

describe.each(Object.entries(odd))('%s in place of a lease', (_, put) => {
  async function prepared() {
    const everything = party()
    const first = everything.store()
    await first.release(await claimed(first))
    put(everything.files.lease)
    return everything
  }

  it('is unknown first, and granted after a TTL unchanged', async () => {
    const { store, clock } = await prepared()
    const mine = store()
    expect(await mine.claim(request())).toMatchObject({
      kind: 'unknown',
      retryAfterMs: TTL_MS,
      holder: { place: 'this-host', pid: 0, hostname: '' }
    })
    await clock.advance(TTL_MS - 1)
    expect(await mine.claim(request())).toMatchObject({ kind: 'unknown', retryAfterMs: 1 })
    await clock.advance(1)
    expect(await mine.claim(request())).toMatchObject({ kind: 'granted', lease: { epoch: 2 } })
    expect(await store().claim(request())).toMatchObject({ kind: 'refused' })
  })

  it('is told by a look, and by the list, and both leave it alone', async () => {
    const { store, clock, files } = await prepared()
    const mine = store()
    const before = lstatSync(files.lease).ino
    expect(mine.liveHolderOtherThan('7c0e2f4a-agent', '')).toMatchObject({ kind: 'unknown' })
    expect(mine.list()).toMatchObject([{ state: 'unreadable', path: files.lease }])
    await clock.advance(TTL_MS)
    expect(mine.liveHolderOtherThan('7c0e2f4a-agent', '')).toMatchObject({ kind: 'over', why: 'expired' })
    expect(lstatSync(files.lease).ino).toBe(before)
  })
})

describe('what cannot be read', () => {
  it('is live again if it changes', async () => {
    const { store, clock, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(files.lease, 'x')
    const mine = store()
    await mine.claim(request())
    await clock.advance(TTL_MS - 1)
    appendFileSync(files.lease, 'y')
    expect(await mine.claim(request())).toMatchObject({ kind: 'refused', holder: { hostname: '' } })
    await clock.advance(TTL_MS - 1)
    expect(await mine.claim(request())).toMatchObject({ kind: 'refused' })
    await clock.advance(1)
    expect(await mine.claim(request())).toMatchObject({ kind: 'granted' })
  })

  it('is not kept alive by its time of last change alone', async () => {
    const { store, clock, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(files.lease, 'x')
    const mine = store()
    await mine.claim(request())
    await clock.advance(TTL_MS)
    utimesSync(files.lease, 1, 1)
    expect(await mine.claim(request())).toMatchObject({ kind: 'granted' })
  })

  it('is watched for the longest TTL in use, whoever has a shorter one', async () => {
    const { store, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(files.lease, 'x')
    expect(await store({ ttlMs: 500 }).claim(request())).toMatchObject({ retryAfterMs: 15_000 })
    expect(await store({ ttlMs: 60_000 }).claim(request())).toMatchObject({ retryAfterMs: 60_000 })
  })

  it('is watched anew by every store: nobody believes what another saw', async () => {
    const { store, clock, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(files.lease, 'x')
    await store().claim(request())
    await clock.advance(TTL_MS)
    expect(await store().claim(request())).toMatchObject({ kind: 'unknown' })
  })
})

describe('a folder in the place of', () => {
  it('a lease is kept, out of the way, with what is in it', async () => {
    const { store, clock, files } = party()
    const first = store()
    await first.release(await claimed(first))
    mkdirSync(files.lease)
    writeFileSync(join(files.lease, 'precious'), 'kept')
    const mine = store()
    await mine.claim(request())
    await clock.advance(TTL_MS)
    await claimed(mine)
    const aside = readdirSync(dirname(files.lease)).filter((name) => name.includes('.damaged-'))
    expect(aside).toHaveLength(1)
    expect(readFileSync(join(dirname(files.lease), aside[0] ?? '', 'precious'), 'utf8')).toBe('kept')
  })

  it('the counter, or of temporary files, does not stop a claim', async () => {
    const { store, clock, files } = party()
    const first = store()
    await first.release(await claimed(first))
    rmSync(files.epoch)
    for (const path of [files.epoch, `${files.epoch}.tmp`, `${files.lease}.tmp`]) {
      mkdirSync(path)
      writeFileSync(join(path, 'precious'), 'kept')
    }
    const { epoch } = await claimed(first)
    expect(epoch).toBe(Math.floor(clock.wallMs() / 1_000) + 1)
    expect(readFileSync(files.epoch, 'utf8')).toBe(`${epoch}\n`)
  })

  it('the lock is a fault that names it, and nothing is moved: a lock stays where it is', async () => {
    const { store, files } = party()
    const first = store()
    const lease = await claimed(first)
    rmSync(files.lock)
    mkdirSync(files.lock)
    const fault = { name: 'LeaseFault', code: 'io', path: files.lock, errno: 'EISDIR' }
    await expect(first.claim(request())).rejects.toMatchObject(fault)
    await expect(first.verify(lease)).rejects.toMatchObject(fault)
    await expect(first.renew(lease)).rejects.toMatchObject(fault)
    await expect(first.release(lease)).rejects.toMatchObject(fault)
    expect(lstatSync(files.lock).isDirectory()).toBe(true)
    // Looking needs no lock.
    expect(first.liveHolderOtherThan(lease.uid, '')).toMatchObject({ kind: 'held' })
  })
})

describe('leftovers of a killed writer', () => {
  it('are replaced and do not stay', async () => {
    const { store, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(`${files.epoch}.tmp`, '99')
    writeFileSync(`${files.lease}.tmp`, '{"half')
    expect(await claimed(store())).toMatchObject({ epoch: 2 })
    expect(existsSync(`${files.epoch}.tmp`)).toBe(false)
    expect(existsSync(`${files.lease}.tmp`)).toBe(false)
  })

  it('between counter and lease cost an epoch and nothing else', async () => {
    const { store, files } = party()
    const first = store()
    await first.release(await claimed(first))
    writeFileSync(files.epoch, '2\n')
    expect(await claimed(store())).toMatchObject({ epoch: 3 })
  })

  it('at the creation of a key, with the counter or with the counter and the lock, are taken over', async () => {
    for (const left of [['epoch'], ['epoch', 'lock']] as const) {
      const { store, files, root } = party()
      mkdirSync(`${root}/leases`)
      for (const name of left) writeFileSync(files[name], name === 'epoch' ? '0\n' : '')
      expect(await claimed(store())).toMatchObject({ epoch: 1 })
    }
  })
})

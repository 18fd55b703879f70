/** Looking is free (R6): no lock, no file, no wait, whatever state the folder is in. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LeaseFault } from '../src/index.js'
import { claimed, ELSEWHERE, instance, olderRecord, party, TTL_MS, UID } from './harness/parties.js'

/** Everything about a folder that a look could change. */
function snapshot(folder: string): unknown {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const { ino, size, mtimeMs, mode } = statSync(`${folder}/${name}`)
      return { name, ino, size, mtimeMs, mode }
    })
}

describe('looking at a key', () => {
  it('finds it free where nothing was ever held, and creates nothing, not even the folder', () => {
    const { store, root } = party()
    const mine = store()
    expect(mine.liveHolderOtherThan(UID, '')).toEqual({ kind: 'free' })
    expect(mine.list()).toEqual([])
    expect(mine.doubts()).toBeUndefined()
    expect(readdirSync(root)).toEqual([])
  })

  it('changes nothing, whatever it finds', async () => {
    const { store, root, clock, files } = party()
    const holder = store()
    await claimed(holder)
    await claimed(holder, { agent: { uid: 'expired' } })
    await claimed(store({ host: ELSEWHERE }), { agent: { uid: 'remote' } })
    await clock.advance(2 * TTL_MS)
    clock.stepWall(86_400_000)
    writeFileSync(files.lease.replace(UID, 'broken'), '{')
    const before = snapshot(root)
    const mine = store()
    for (const uid of [UID, 'expired', 'remote', 'broken', 'never']) mine.liveHolderOtherThan(uid, '')
    mine.list()
    expect(snapshot(root)).toEqual(before)
  })

  it('names the holder while it lives', async () => {
    const { store } = party()
    await claimed(store({ instance: instance('beta') }))
    expect(store().liveHolderOtherThan(UID, '')).toMatchObject({
      kind: 'held',
      holder: { place: 'this-host', channel: 'beta', pid: process.pid, epoch: 1, blockId: 'block-1' }
    })
  })

  it('does not count one’s own lease', async () => {
    const { store } = party()
    const mine = store()
    await claimed(mine)
    const { ownerBootId } = mine.instance
    expect(mine.liveHolderOtherThan(UID, ownerBootId)).toEqual({ kind: 'free' })
    expect(store().liveHolderOtherThan(UID, 'somebody')).toMatchObject({ kind: 'held' })
  })

  it('tells a lease that is over from one that is free, and why', async () => {
    const { store, clock } = party()
    const holder = store()
    await claimed(holder)
    const gone = spawnSync(process.execPath, ['-e', '0']).pid
    await claimed(store({ instance: { ...instance(), pid: gone } }), { agent: { uid: 'dead' } })
    expect(store().liveHolderOtherThan('dead', '')).toMatchObject({ kind: 'over', why: 'dead' })
    await clock.advance(TTL_MS)
    expect(store().liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'over', why: 'expired' })
  })

  it('says unknown, and for how long, where only watching can tell', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    writeFileSync(files.lease, JSON.stringify(olderRecord({ renewed_at_ms: 0 })))
    const mine = store()
    expect(mine.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'unknown', retryAfterMs: TTL_MS })
    await clock.advance(TTL_MS)
    expect(mine.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'over', why: 'expired' })
  })

  it('starts a watch anew after the lease was gone in between', async () => {
    const { store, clock, files } = party()
    await claimed(store())
    const text = JSON.stringify(olderRecord({ renewed_at_ms: 0 }))
    const mine = store()
    writeFileSync(files.lease, text)
    mine.liveHolderOtherThan(UID, '')
    await clock.advance(TTL_MS - 1)
    rmSync(files.lease)
    expect(mine.liveHolderOtherThan(UID, '')).toEqual({ kind: 'free' })
    writeFileSync(files.lease, text)
    expect(mine.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'unknown', retryAfterMs: TTL_MS })
  })

  it('refuses what cannot be a UID', () => {
    const mine = party().store()
    expect(() => mine.liveHolderOtherThan('../x', '')).toThrow(RangeError)
    expect(() => mine.pathOf('')).toThrow(RangeError)
  })
})

describe('the list', () => {
  it('has every lease with its state, by UID', async () => {
    const { store, clock, root } = party()
    const holder = store()
    const lease = await claimed(holder, { agent: { uid: 'b-held' } })
    await claimed(holder, { agent: { uid: 'a-expired' } })
    await holder.release(await claimed(holder, { agent: { uid: 'c-released' } }))
    await clock.advance(TTL_MS)
    await holder.renew(lease, { pid: 55, startTicks: 66 })
    await claimed(store({ instance: { ...instance(), pidStartTicks: 1 } }), { agent: { uid: 'd-dead' } })
    writeFileSync(
      `${root}/leases/e-older.lease.json`,
      JSON.stringify(olderRecord({ instance_id: 'e-older' }))
    )
    writeFileSync(`${root}/leases/f-broken.lease.json`, '')
    writeFileSync(`${root}/leases/g.lease.json.tmp`, '{}')
    const found = store().list()
    expect(found.map(({ uid, state }) => [uid, state])).toEqual([
      ['a-expired', 'expired'],
      ['b-held', 'held'],
      ['d-dead', 'dead'],
      ['e-older', 'unknown'],
      ['f-broken', 'unreadable']
    ])
    expect(found[1]).toMatchObject({
      driverPid: 55,
      renewedAtMs: clock.wallMs(),
      path: `${root}/leases/b-held.lease.json`,
      holder: { epoch: 1, pid: process.pid }
    })
  })

  it('keeps to the folder, whatever a file is called', async () => {
    const { store, root } = party()
    await claimed(store())
    writeFileSync(`${root}/leases/..lease.json`, '{}')
    writeFileSync(`${root}/leases/CON.lease.json`, '{}')
    for (const { path } of store().list()) expect(path.startsWith(`${root}/leases/`)).toBe(true)
  })
})

describe('a folder that cannot be read', () => {
  it('is a fault with its path, not a free agent', () => {
    const { store, root } = party()
    writeFileSync(`${root}/leases`, 'a file')
    const mine = store()
    expect(() => mine.liveHolderOtherThan(UID, '')).toThrow(LeaseFault)
    expect(() => mine.list()).toThrow(LeaseFault)
    expect(() => mine.list()).toThrow(`${root}/leases`)
  })
})

describe('a process without a free descriptor', () => {
  it('is told so, and nothing is taken for free', () => {
    const { root } = party()
    mkdirSync(`${root}/leases`)
    const script = `
      import { openSync } from 'node:fs'
      import { LeaseStore } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
      const store = LeaseStore.open(${JSON.stringify(root)})
      try { for (;;) openSync('/dev/null') } catch {}
      try { console.log(store.liveHolderOtherThan('k', '').kind) } catch (error) { console.log(error.name, error.errno) }
      await store.claim({ agent: { uid: 'k' }, blockId: 'b' }).then((it) => console.log(it.kind), (error) => console.log(error.name, error.errno))`
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -n 512; exec "$0" --input-type=module -e "$1"', process.execPath, script],
      { encoding: 'utf8' }
    )
    expect(stdout + stderr).toBe('LeaseFault EMFILE\nLeaseFault EMFILE\n')
  })
})

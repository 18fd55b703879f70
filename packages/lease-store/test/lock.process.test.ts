/** Leases between real processes: death, suspension, the lock in somebody's hands. */
import { renameSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LeaseStore } from '../src/index.js'
import { Child } from './harness/child.js'
import { openFilesOf } from './harness/descriptors.js'
import { diskFolder } from './harness/folder.js'
import { claimed, Files, granted, request, UID } from './harness/parties.js'

const claim = { agent: { uid: UID }, blockId: 'child' }
/** The shortest there is, where a test has to see a TTL pass. */
const SHORT = { ttlMs: 500 }
/** Longer than any test lasts. */
const LONG = { ttlMs: 600_000 }

function setting() {
  const root = diskFolder()
  return { root, files: new Files(`${root}/leases/${UID}`) }
}

/** Claims as soon as it can be granted. */
async function claimInTime(store: LeaseStore) {
  for (;;) {
    await store.waitForRelease(UID)
    const result = await store.claim(request())
    if (result.kind === 'granted') return result
  }
}

describe('a holder that is killed', () => {
  it('is followed at once, under the next epoch', async () => {
    const { root } = setting()
    const child = new Child(root, { store: LONG })
    expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
    const store = LeaseStore.open(root)
    expect(await store.claim(request())).toMatchObject({ kind: 'refused', holder: { blockId: 'child' } })
    await child.signal('SIGKILL')
    expect(await store.claim(request())).toMatchObject({
      kind: 'granted',
      lease: { epoch: 2 },
      previous: { why: 'dead' }
    })
  })

  it('wakes who waits, without a release', async () => {
    const { root } = setting()
    const child = new Child(root, { store: LONG })
    await child.do('claim', claim)
    const wait = LeaseStore.open(root).waitForRelease(UID)
    await child.signal('SIGKILL')
    await wait
  })
})

describe('a holder that is stopped', () => {
  it('keeps its lease and epoch if nobody claims it, however long that takes', async () => {
    const { root } = setting()
    const child = new Child(root, { store: SHORT })
    await child.do('claim', claim)
    await child.signal('SIGSTOP')
    await LeaseStore.open(root).waitForRelease(UID)
    await child.signal('SIGCONT')
    expect(await child.do('verify')).toEqual({ kind: 'held' })
    expect(await child.do('renew')).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
  })

  it('may be followed after its TTL, and is told so by every call when it goes on', async () => {
    const { root, files } = setting()
    const child = new Child(root, { store: SHORT })
    await child.do('claim', claim)
    await child.signal('SIGSTOP')
    const store = LeaseStore.open(root)
    const result = await claimInTime(store)
    expect(result).toMatchObject({ lease: { epoch: 2 }, previous: { why: 'expired' } })
    await child.signal('SIGCONT')
    const loss = { why: 'taken', holder: { epoch: 2, pid: process.pid } }
    expect(await child.do('renew')).toMatchObject({ kind: 'lost', loss })
    expect(await child.do('verify')).toMatchObject({ kind: 'lost', loss })
    expect(await child.do('release')).toEqual({ kind: 'not-held' })
    expect(files.record()).toMatchObject({ claim_id: granted(result).claimId })
  })
})

describe('a lock in the hands of a process that is stopped', () => {
  it('ends every call with a time-out that names the process and the way out; looking goes on', async () => {
    const { root, files } = setting()
    const store = LeaseStore.open(root, { lockWaitMs: 50 })
    const lease = await claimed(store)
    const child = new Child(root)
    await child.do('lock', { path: files.lock })
    await child.signal('SIGSTOP')
    const fault = {
      name: 'LeaseFault',
      code: 'lock-timeout',
      path: files.lock,
      message: expect.stringMatching(
        new RegExp(`by pid ${child.pid} \\(.*\\), which is stopped: .*kill -CONT ${child.pid}`)
      )
    }
    await expect(store.claim(request())).rejects.toMatchObject(fault)
    await expect(store.renew(lease)).rejects.toMatchObject(fault)
    await expect(store.verify(lease)).rejects.toMatchObject(fault)
    await expect(store.release(lease)).rejects.toMatchObject(fault)
    await expect(store.whileHeld(lease, () => expect.unreachable('it ran'))).rejects.toMatchObject(fault)
    expect(store.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'held' })
    expect(store.list()).toHaveLength(1)
    await child.signal('SIGCONT')
    await child.do('unlock')
    expect(await store.verify(lease)).toEqual({ kind: 'held' })
  })

  it('is free again as soon as that process is killed', async () => {
    const { root, files } = setting()
    const store = LeaseStore.open(root, { lockWaitMs: 60_000 })
    const lease = await claimed(store)
    const child = new Child(root)
    await child.do('lock', { path: files.lock })
    await child.signal('SIGSTOP')
    const verify = store.verify(lease)
    await child.signal('SIGKILL')
    expect(await verify).toEqual({ kind: 'held' })
  })
})

describe('a lock file that is swapped under a waiter', () => {
  it('is noticed: never two holders', async () => {
    const { root, files } = setting()
    const first = LeaseStore.open(root)
    await first.release(await claimed(first))
    const blocker = new Child(root)
    await blocker.do('lock', { path: files.lock })
    const waiters = [new Child(root, { store: LONG }), new Child(root, { store: LONG })]
    await Promise.all(waiters.map((child) => child.do('hello')))
    const answers = waiters.map((child) => child.do('claim', claim))
    // They have the first file open and wait; then there is a second one, which a newcomer takes.
    await expect.poll(() => waiters.every(({ pid }) => hasOpen(pid, files.lock))).toBe(true)
    renameSync(files.lock, `${files.lock}.old`)
    writeFileSync(files.lock, '')
    const newcomer = new Child(root, { store: LONG })
    answers.push(newcomer.do('claim', claim))
    await blocker.do('unlock')
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind)
    expect(kinds.sort()).toEqual(['granted', 'refused', 'refused'])
  })
})

describe('a look while others work', () => {
  it('is not kept waiting by a lock that is held', async () => {
    const { root, files } = setting()
    const holder = new Child(root, { store: LONG })
    await holder.do('claim', claim)
    await holder.do('lock', { path: files.lock })
    await holder.signal('SIGSTOP')
    const store = LeaseStore.open(root)
    expect(store.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'held', holder: { pid: holder.pid } })
  })

  it('never sees half a renewal', async () => {
    const { root } = setting()
    const holder = new Child(root, { store: LONG })
    await holder.do('claim', claim)
    await holder.do('renewForEver')
    const store = LeaseStore.open(root)
    let renewedAtMs = 0
    const seen = new Set<number>()
    while (seen.size < 200) {
      expect(store.liveHolderOtherThan(UID, '')).toMatchObject({ kind: 'held', holder: { epoch: 1 } })
      const [listed] = store.list()
      expect(listed).toMatchObject({ state: 'held' })
      expect(listed?.renewedAtMs).toBeGreaterThanOrEqual(renewedAtMs)
      renewedAtMs = listed?.renewedAtMs ?? 0
      seen.add(renewedAtMs)
    }
  })
})

describe('waiting in one process for a release in another', () => {
  it('is woken by it', async () => {
    const { root } = setting()
    const holder = new Child(root, { store: LONG })
    await holder.do('claim', claim)
    const waiter = new Child(root)
    const wait = waiter.do('wait', { uid: UID })
    await holder.do('release')
    expect(await wait).toBeNull()
  })
})

function hasOpen(pid: number, path: string): boolean {
  return openFilesOf(pid).includes(path)
}

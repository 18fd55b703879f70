/** Disks that freeze, folders that lead in a circle, and renames that somebody else holds up, under real processes. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeaseStore } from '../src/index.js'
import { Child } from './harness/child.js'
import { diskFolder } from './harness/folder.js'
import { Lies } from './harness/lies.js'
import { canMount, image, mounted, seenBy } from './harness/mounts.js'
import { claimed, Files, request, UID } from './harness/parties.js'

const claim = { agent: { uid: UID }, blockId: 'b' }
const LONG = { ttlMs: 600_000 }

describe('a path that leads in a circle', () => {
  it('in place of the folder is a fault that names it', async () => {
    const root = diskFolder()
    symlinkSync('leases', join(root, 'leases'))
    const store = LeaseStore.open(root)
    const fault = {
      name: 'LeaseFault',
      code: 'io',
      errno: 'ELOOP',
      path: expect.stringContaining(join(root, 'leases'))
    }
    await expect(store.claim(request())).rejects.toMatchObject(fault)
    expect(() => store.list()).toThrow(expect.objectContaining(fault))
  })

  it('in place of the lock is a fault that names it; the link stays, and what it names is not made', async () => {
    const root = diskFolder()
    const store = LeaseStore.open(root)
    const files = new Files(join(root, 'leases', UID))
    const lease = await claimed(store)
    for (const target of [files.lock, join(root, 'target')]) {
      rmSync(files.lock)
      symlinkSync(target, files.lock)
      const fault = { name: 'LeaseFault', code: 'io', errno: 'ELOOP', path: files.lock }
      await expect(store.claim(request())).rejects.toMatchObject(fault)
      await expect(store.renew(lease)).rejects.toMatchObject(fault)
      expect(existsSync(join(root, 'target'))).toBe(false)
    }
  })
})

describe('a folder that is deleted while a lease in it is held', () => {
  it('is a loss, told by every call; the next claim makes it anew, above the epoch that the caller knows', async () => {
    const root = diskFolder()
    const child = new Child(root, { store: LONG })
    await child.do('claim', claim)
    rmSync(join(root, 'leases'), { recursive: true })
    for (const call of ['renew', 'verify']) {
      expect(await child.do(call)).toMatchObject({ kind: 'lost', loss: { why: 'missing' } })
    }
    expect(await child.do('release')).toEqual({ kind: 'not-held' })
    expect(readdirSync(root)).toEqual([])
    const { lease } = await child.do('claim', { ...claim, epochFloor: 1 })
    expect(lease.epoch).toBe(2)
  })
})

describe('a rename that somebody else holds up for a moment', () => {
  it('is tried again: the claim is granted', async () => {
    const lies = new Lies({ busyRenames: 4 })
    const child = new Child(diskFolder(), { env: lies.env })
    expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
  })

  it('and does not end is a fault in bounded time, and all is as it was', async () => {
    const root = diskFolder()
    const lies = new Lies({ busyRenames: 1_000 })
    const child = new Child(root, { env: lies.env })
    expect(await child.do('claim', claim)).toMatchObject({
      kind: 'thrown',
      name: 'LeaseFault',
      errno: 'EBUSY'
    })
    expect(readdirSync(join(root, 'leases')).sort()).toEqual([`${UID}.epoch`, `${UID}.lock`])
    lies.tell({ busyRenames: 0 })
    expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
  })
})

/** In a mount of its own, so that nothing else is frozen. */
const FREEZING = (folder: string) => image('mkfs.ext4 -q', folder)

function canFreeze(): boolean {
  return process.getuid?.() === 0 && canMount((folder) => `command -v fsfreeze && ${FREEZING(folder)}`)
}

if (canFreeze()) onFrozenDisk()

function onFrozenDisk(): void {
  describe('a disk that freezes', () => {
    it('holds up writers alone: looking goes on, nobody gets in, and after it the holder has what it had', async () => {
      const folder = join(diskFolder(), 'm')
      mkdirSync(folder)
      const holder = new Child(folder, {
        through: mounted(FREEZING(folder), folder),
        store: { ...LONG, lockWaitMs: 500 }
      })
      await holder.do('claim', claim)
      const here = seenBy(holder.pid, folder)
      const freeze = (how: '-f' | '-u') => spawnSync('fsfreeze', [how, here]).status
      onTestFinished(() => {
        freeze('-u')
      })
      const beside = new Child(here, { store: { lockWaitMs: 500 } })
      expect(await beside.do('claim', { ...claim, blockId: 'c' })).toMatchObject({ kind: 'refused' })
      expect(freeze('-f')).toBe(0)
      const renewal = holder.do('renew')
      await expect.poll(() => readFileSync(`/proc/${holder.pid}/stat`, 'latin1')).toContain(') D ')
      expect(await beside.do('look', { uid: UID })).toMatchObject({ kind: 'held', holder: { epoch: 1 } })
      expect(await beside.do('list')).toMatchObject([{ state: 'held' }])
      // The stuck holder sits in the lock; what the lease says is enough for a refusal.
      expect(await beside.do('claim', { ...claim, blockId: 'c' })).toMatchObject({ kind: 'refused' })
      expect(freeze('-u')).toBe(0)
      expect(await renewal).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
      expect(await holder.do('verify')).toEqual({ kind: 'held' })
      expect(await holder.do('release')).toEqual({ kind: 'released' })
      expect(await beside.do('claim', { ...claim, blockId: 'c' })).toMatchObject({
        kind: 'granted',
        lease: { epoch: 2 }
      })
    })
  })
}

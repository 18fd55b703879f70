/**
 * File systems: what is not to be trusted is said and judged by watching alone, where flock is missing nothing is
 * granted, and no ordinary local one is ever flagged. What this kernel lacks is injected into real processes.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Child } from './harness/child.js'
import { diskFolder } from './harness/folder.js'
import { Lies } from './harness/lies.js'
import { canMount, image, mounted } from './harness/mounts.js'
import { TTL_MS, UID, UPTIME_SLACK_MS } from './harness/parties.js'

const claim = { agent: { uid: UID }, blockId: 'b' }

describe('a doubtful file system', () => {
  it.each([
    ['NFS', 0x6969],
    ['SMB', 0xff534d42],
    ['SMB', 0xfe534d42],
    ['9P', 0x01021997],
    ['FUSE', 0x65735546]
  ])(
    '(%s, %i) is named; its leases are given and honoured, and end by watching alone',
    async (name, fileSystem) => {
      const root = diskFolder()
      const lies = new Lies({ fileSystem })
      const [holder, newcomer] = [new Child(root, { env: lies.env }), new Child(root, { env: lies.env })]
      expect(await holder.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
      expect(await holder.do('doubts')).toEqual({ kind: name })
      expect(await newcomer.do('claim', claim)).toMatchObject({ kind: 'refused', holder: { epoch: 1 } })
      expect(await holder.do('renew')).toMatchObject({ kind: 'renewed' })
      await holder.signal('SIGKILL')
      // That its pid is gone says nothing: it may be another machine's.
      expect((await newcomer.do('claim', claim)).kind).not.toBe('granted')
      lies.tell({ sleptMs: TTL_MS / 3 })
      expect((await newcomer.do('claim', claim)).kind).not.toBe('granted')
      lies.tell({ sleptMs: TTL_MS + UPTIME_SLACK_MS })
      expect(await newcomer.do('claim', claim)).toMatchObject({
        kind: 'granted',
        lease: { epoch: 2 },
        previous: { why: 'expired' }
      })
      expect(await newcomer.do('release')).toEqual({ kind: 'released' })
    }
  )
})

describe('a file system on which flock', () => {
  const cases = ['nothing', 'ENOSYS', 'EOPNOTSUPP', 'ENOLCK'] as const

  it.each(cases)(
    'does %s: no lease is given, the fault says why and what to do, looking goes on',
    async (flock) => {
      const root = diskFolder()
      const lies = new Lies({ flock })
      const child = new Child(root, { env: lies.env })
      expect(await child.do('claim', claim)).toMatchObject({
        kind: 'thrown',
        name: 'LeaseFault',
        code: 'lock-unsupported',
        message: expect.stringMatching(/flock (does nothing|fails) there.*local disk/)
      })
      expect(readdirSync(join(root, 'leases'))).not.toContain(`${UID}.lease.json`)
      expect(await child.do('look', { uid: UID })).toEqual({ kind: 'free' })
      lies.tell({ flock: undefined })
      expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted' })
    }
  )
})

describe('an ordinary local file system', () => {
  const LOCAL: [string, (folder: string) => string][] = [
    ['tmpfs', () => 'mount -t tmpfs tmpfs "$1"'],
    ['ramfs', () => 'mount -t ramfs ramfs "$1"'],
    [
      'overlay',
      () =>
        'mount -t tmpfs tmpfs "$1" && mkdir "$1/low" "$1/up" "$1/work" && mount -t overlay -o lowerdir="$1/low",upperdir="$1/up",workdir="$1/work" overlay "$1"'
    ],
    ['ext4', (folder) => image('mkfs.ext4 -q', folder)],
    ['XFS', (folder) => image('mkfs.xfs -q', folder)],
    ['Btrfs', (folder) => image('mkfs.btrfs -q', folder)],
    ['a bind mount', () => 'mount --bind "$1" "$1"'],
    ['the folder for temporary files', () => 'true']
  ]
  // What cannot be made here is left out; the numbers of all of them are in file-system.test.ts.
  const makeable = LOCAL.filter(([, script]) => canMount(script))

  it.each(makeable)(
    '(%s) is never flagged; leases on it are held, and followed by the next',
    async (_, script) => {
      const folder = join(diskFolder(), 'm')
      mkdirSync(folder)
      const through = mounted(script(folder), folder)
      const child = new Child(folder, { through, store: { ttlMs: 600_000 } })
      expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
      expect(await child.do('doubts')).toEqual({ kind: 'none' })
      expect(await child.do('rival', { ...claim, blockId: 'rival' })).toMatchObject({ kind: 'refused' })
      expect(await child.do('release')).toEqual({ kind: 'released' })
      expect(await child.do('rival', { ...claim, blockId: 'rival' })).toMatchObject({
        kind: 'granted',
        lease: { epoch: 2 }
      })
    }
  )
})

/** Folders and disks that do not let one write: a fault that names the path, and everything stays as it was. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LeaseStore } from '../src/index.js'
import { Child } from './harness/child.js'
import { diskFolder } from './harness/folder.js'
import { canMount, mounted, seenBy } from './harness/mounts.js'
import { claimed, Files, request, UID } from './harness/parties.js'

const claim = { agent: { uid: UID }, blockId: 'child' }
const LONG = { ttlMs: 600_000 }
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** Everything in a folder, with its bytes. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')])
  )
}

describe('a folder that is', () => {
  it('a file: the fault names it', async () => {
    const root = diskFolder()
    writeFileSync(join(root, 'leases'), 'a file')
    await expect(LeaseStore.open(root).claim(request())).rejects.toMatchObject({
      name: 'LeaseFault',
      code: 'io',
      errno: 'ENOTDIR',
      message: expect.stringContaining(join(root, 'leases'))
    })
    expect(readFileSync(join(root, 'leases'), 'utf8')).toBe('a file')
  })

  it('below a file: the fault names it', async () => {
    const root = diskFolder()
    writeFileSync(join(root, 'registry'), 'a file')
    const store = LeaseStore.open(join(root, 'registry'))
    await expect(store.claim(request())).rejects.toMatchObject({ code: 'io', errno: 'ENOTDIR' })
    await expect(store.waitForRelease(UID)).rejects.toMatchObject({ code: 'io', errno: 'ENOTDIR' })
  })

  it('where nothing can be made: the fault names it, and comes at once', async () => {
    await expect(LeaseStore.open('/proc/none/registry').claim(request())).rejects.toMatchObject({
      code: 'io',
      errno: 'ENOENT',
      message: expect.stringContaining('/proc/none/registry/leases')
    })
  })

  it('a dangling link: the fault names it', async () => {
    const root = diskFolder()
    symlinkSync('/nonexistent/folder', join(root, 'leases'))
    await expect(LeaseStore.open(root).claim(request())).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(join(root, 'leases'))
    })
  })

  it('a link to another folder: used', async () => {
    const root = diskFolder()
    mkdirSync(join(root, 'elsewhere'))
    symlinkSync('elsewhere', join(root, 'leases'))
    await claimed(LeaseStore.open(root))
    expect(readdirSync(join(root, 'elsewhere'))).toHaveLength(3)
  })

  it.each(['new', 'in use'])(
    'somebody else’s (%s): the fault names it, and looking goes on',
    async (state) => {
      const root = diskFolder()
      chmodSync(root, 0o755)
      if (state === 'in use') {
        await claimed(LeaseStore.open(root, LONG))
        chmodSync(join(root, 'leases'), 0o755)
      }
      const child = new Child(root, { store: LONG })
      await child.do('hello')
      if (isRoot) expect(await child.do('become', { uid: NOBODY })).toEqual({ kind: String(NOBODY) })
      else
        for (const path of [...readdirSync(root, { recursive: true }).map(String), '.'])
          chmodSync(join(root, path), 0o555)
      expect(await child.do('claim', claim)).toMatchObject({
        kind: 'thrown',
        name: 'LeaseFault',
        code: 'io',
        errno: 'EACCES',
        path: state === 'new' ? join(root, 'leases') : join(root, 'leases', `${UID}.lock`)
      })
      expect(await child.do('look', { uid: UID })).toMatchObject({ kind: state === 'new' ? 'free' : 'held' })
      if (!isRoot) chmodSync(root, 0o755)
    }
  )

  it('somebody else’s and closed to us: a look is a fault, not a free agent', async () => {
    const root = diskFolder()
    chmodSync(root, 0o755)
    await claimed(LeaseStore.open(root, LONG))
    const child = new Child(root)
    await child.do('hello')
    if (isRoot) await child.do('become', { uid: NOBODY })
    else chmodSync(join(root, 'leases'), 0)
    expect(await child.do('look', { uid: UID })).toMatchObject({ name: 'LeaseFault', errno: 'EACCES' })
    expect(await child.do('list')).toMatchObject({ name: 'LeaseFault', errno: 'EACCES' })
    chmodSync(join(root, 'leases'), 0o755)
  })
})

describe('a limit on the size of files, as a disk that stops taking bytes', () => {
  async function limited(fileSize: number) {
    const root = diskFolder()
    const child = new Child(root, { store: LONG })
    await child.do('claim', claim)
    const before = contents(join(root, 'leases'))
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${fileSize}:`])
    return { root, child, before, folder: join(root, 'leases'), files: new Files(join(root, 'leases', UID)) }
  }
  const fault = (path: string) => ({ kind: 'thrown', name: 'LeaseFault', code: 'io', errno: 'EFBIG', path })

  it.each([0, 300])('after %i bytes fails the renewal and leaves the lease as it was', async (size) => {
    const { child, before, folder, files } = await limited(size)
    expect(await child.do('renew')).toMatchObject(fault(files.lease))
    expect(contents(folder)).toEqual(before)
    expect(await child.do('verify')).toEqual({ kind: 'held' })
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:'])
    expect(await child.do('renew')).toMatchObject({ kind: 'renewed', lease: { epoch: 1 } })
  })

  it('fails a renewal that needs more room, and a claim, and leaves no temporary file', async () => {
    const { child, before, folder, files } = await limited(300)
    const driver = { pid: 1_234_567, startTicks: 987_654_321 }
    expect(await child.do('renew', { driver })).toMatchObject(fault(files.lease))
    expect(contents(folder)).toEqual(before)
    // The same block again: its epoch is kept, so only the lease would be written.
    expect(await child.do('claim', claim)).toMatchObject(fault(files.lease))
    expect(contents(folder)).toEqual(before)
  })

  it('fails the release of nothing: removing needs no room', async () => {
    const { child, folder } = await limited(0)
    expect(await child.do('release')).toEqual({ kind: 'released' })
    expect(readdirSync(folder).sort()).toEqual([`${UID}.epoch`, `${UID}.lock`])
  })
})

const SMALL = 'mount -t tmpfs -o size=64k tmpfs "$1"'

if (canMount(() => SMALL)) onMounts()

/** Where no mount can be made, the limits above and the folders of somebody else stand for these. */
function onMounts(): void {
  describe('a full disk', () => {
    async function full(store: object) {
      const root = diskFolder()
      const child = new Child(root, {
        store,
        through: mounted(SMALL, root)
      })
      await child.do('claim', claim)
      expect(await child.do('fill', { path: `${root}/filler` })).toEqual({ kind: 'ENOSPC' })
      const folder = seenBy(child.pid, `${root}/leases`)
      return { root, child, folder, before: contents(folder), files: new Files(`${root}/leases/${UID}`) }
    }

    it('still takes renewals: they need no room', async () => {
      const { child, folder, before } = await full(LONG)
      expect(await child.do('renew')).toMatchObject({ kind: 'renewed' })
      expect(Object.keys(contents(folder))).toEqual(Object.keys(before))
      expect(await child.do('verify')).toEqual({ kind: 'held' })
    })

    it('fails a claim; the old lease and epoch stay, and no temporary file', async () => {
      const { child, folder, before, files } = await full({ ttlMs: 500 })
      await child.do('wait', { uid: UID })
      expect(await child.do('rival', { ...claim, blockId: 'rival' })).toMatchObject({
        kind: 'thrown',
        name: 'LeaseFault',
        code: 'io',
        errno: 'ENOSPC',
        path: files.epoch
      })
      expect(contents(folder)).toEqual(before)
      expect(await child.do('verify')).toEqual({ kind: 'held' })
    })

    it('fails a new key, and gives it a higher epoch once there is room', async () => {
      const { child, root } = await full(LONG)
      const another = { agent: { uid: 'new' }, blockId: 'b' }
      expect(await child.do('rival', another)).toMatchObject({ name: 'LeaseFault', errno: 'ENOSPC' })
      execFileSync('rm', [seenBy(child.pid, `${root}/filler`)])
      expect(await child.do('rival', another)).toMatchObject({ kind: 'granted' })
    })
  })

  describe('a file system that is read-only', () => {
    const readOnly = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'

    it('fails a first claim with the path of the folder', async () => {
      const root = diskFolder()
      const child = new Child(root, { through: mounted(readOnly, root) })
      expect(await child.do('claim', claim)).toMatchObject({
        name: 'LeaseFault',
        code: 'io',
        errno: 'EROFS',
        path: join(root, 'leases')
      })
    })

    it('fails everything but looking where leases are', async () => {
      const root = diskFolder()
      await claimed(LeaseStore.open(root, LONG))
      const child = new Child(root, { through: mounted(readOnly, root) })
      const lock = join(root, 'leases', `${UID}.lock`)
      expect(await child.do('claim', claim)).toMatchObject({ name: 'LeaseFault', errno: 'EROFS', path: lock })
      expect(await child.do('look', { uid: UID })).toMatchObject({ kind: 'held' })
      expect(await child.do('list')).toHaveLength(1)
    })
  })
}

describe('without the native module', () => {
  /** The package as it is installed, but for the module that has to be compiled. */
  function installedWithout(): string {
    const modules = join(diskFolder(), 'node_modules')
    const ours = fileURLToPath(new URL('..', import.meta.url))
    cpSync(join(ours, 'dist'), join(modules, '@agentmux/lease-store/dist'), { recursive: true })
    cpSync(join(ours, 'package.json'), join(modules, '@agentmux/lease-store/package.json'))
    for (const name of ['@agentmux/lease-model', 'zod'])
      symlinkSync(join(ours, 'node_modules', name), join(modules, name))
    return dirname(modules)
  }

  it('a claim is a fault that says what to install, and holds nothing; looking goes on', async () => {
    const cwd = installedWithout()
    const root = diskFolder()
    await claimed(LeaseStore.open(root, LONG))
    const script = `
      import { LeaseStore } from '@agentmux/lease-store'
      const store = LeaseStore.open(${JSON.stringify(root)})
      console.log(store.liveHolderOtherThan('${UID}', '').kind, store.list().length)
      for (const uid of ['${UID}', 'new']) {
        await store.claim({ agent: { uid }, blockId: 'b' }).catch((error) => console.log(error.name, error.code, error.message))
      }`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd,
      encoding: 'utf8',
      // Package managers put the modules of the workspace on it.
      env: { ...process.env, NODE_PATH: '' }
    })
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^held 1\n(LeaseFault lock-module-missing .*C\+\+ compiler.*build-essential.*\n){2}$/
    )
    expect(readdirSync(join(root, 'leases')).filter((name) => name.startsWith('new'))).toEqual([])
  })
})

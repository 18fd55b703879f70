/** The lock of a key: who gets it, how a wait for it ends, and file systems on which it means nothing. */
import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileLock } from '../src/file-lock.js'
import { LeaseFault } from '../src/lease-fault.js'
import { type TryFlock, tryFlock } from '../src/native-flock.js'
import { openFiles } from './harness/descriptors.js'
import { diskFolder } from './harness/folder.js'
import { claimed, party, request } from './harness/parties.js'

const { flockSync } = createRequire(import.meta.url)('fs-ext') as {
  flockSync(descriptor: number, operation: 'exnb' | 'un'): void
}

/** Long enough for any machine; nobody waits for it unless something is broken. */
const waitMs = 30_000

function lockFile(): string {
  const path = join(diskFolder(), 'k.lock')
  writeFileSync(path, '')
  return path
}

/** Somebody else who has the lock: another open file is another owner. Returns how it is given up. */
function lockedByAnother(path: string): () => void {
  const descriptor = openSync(path, 'r+')
  flockSync(descriptor, 'exnb')
  let open = true
  const unlock = () => {
    if (open) closeSync(descriptor)
    open = false
  }
  onTestFinished(unlock)
  return unlock
}

const noCreation = () => {
  throw new Error('it was created')
}

describe('a section under the lock', () => {
  it('runs with the lock taken and gives it back afterwards', async () => {
    const path = lockFile()
    const probe = () => {
      const descriptor = openSync(path, 'r+')
      try {
        return tryFlock(descriptor)
      } finally {
        closeSync(descriptor)
      }
    }
    const lock = new FileLock()
    expect(await lock.run(path, probe, { waitMs, create: noCreation })).toBe(false)
    expect(probe()).toBe(true)
    expect(openFiles(path)).toEqual([])
  })

  it('that throws gives it back, too', async () => {
    const path = lockFile()
    const failing = () => {
      throw new Error('inside')
    }
    const lock = new FileLock()
    await expect(lock.run(path, failing, { waitMs, create: noCreation })).rejects.toThrow('inside')
    expect(openFiles(path)).toEqual([])
    expect(await lock.run(path, () => 1, { waitMs: 0, create: noCreation })).toBe(1)
  })

  it('waits until another gives the lock up', async () => {
    const path = lockFile()
    const unlock = lockedByAnother(path)
    let ran = false
    const run = new FileLock().run(path, () => (ran = true), { waitMs, create: noCreation })
    await new Promise((resolve) => setImmediate(resolve))
    expect(ran).toBe(false)
    unlock()
    expect(await run).toBe(true)
  })

  it('does not run on a lock file that was renamed away and made anew meanwhile', async () => {
    const path = lockFile()
    const unlock = lockedByAnother(path)
    const seen: string[] = []
    // The waiter opens the first file and waits for it; a newcomer finds the second one.
    const waiter = new FileLock().run(path, () => seen.push('waiter'), { waitMs, create: noCreation })
    renameSync(path, `${path}.old`)
    writeFileSync(path, '')
    const unlockSecond = lockedByAnother(path)
    unlock()
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual([])
    unlockSecond()
    await waiter
    expect(seen).toEqual(['waiter'])
  })

  it('creates the lock file if it was removed under a waiter', async () => {
    const path = lockFile()
    const unlock = lockedByAnother(path)
    const run = new FileLock().run(path, () => existsSync(path), {
      waitMs,
      create: () => writeFileSync(path, '')
    })
    rmSync(path)
    unlock()
    expect(await run).toBe(true)
  })

  it('is not waited for longer than allowed, and the fault names who has the lock', async () => {
    const path = lockFile()
    lockedByAnother(path)
    const run = new FileLock().run(path, () => 1, { waitMs: 0, create: noCreation })
    await expect(run).rejects.toMatchObject({
      code: 'lock-timeout',
      path,
      message: expect.stringContaining(`by pid ${process.pid} (`)
    })
    expect(openFiles(path)).toHaveLength(1)
  })

  it('ends with a time-out where the lock file is swapped again and again', async () => {
    const path = lockFile()
    let swaps = 0
    const swapping: TryFlock = (descriptor) => {
      renameSync(path, `${path}.${swaps++}`)
      writeFileSync(path, '')
      return tryFlock(descriptor)
    }
    const run = new FileLock(swapping).run(path, () => 1, { waitMs: 50, create: noCreation })
    await expect(run).rejects.toMatchObject({ code: 'lock-timeout' })
    expect(swaps).toBeGreaterThan(1)
  })
})

describe('an abort', () => {
  it('while waiting ends the wait with its reason, and leaves no descriptor, timer or listener', async () => {
    const path = lockFile()
    lockedByAnother(path)
    for (const turns of [0, 1, 2, 3, 5]) {
      const abort = new AbortController()
      const run = new FileLock().run(path, () => expect.unreachable('it ran'), {
        waitMs,
        signal: abort.signal,
        create: noCreation
      })
      // Past the eager tries it sleeps on timers.
      for (let turn = 0; turn < turns * 3; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
      abort.abort(new Error('enough'))
      await expect(run).rejects.toThrow('enough')
      // One is the lock of the other.
      expect(openFiles(path)).toHaveLength(1)
      expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Immediate')).toEqual([])
    }
  })

  it('before the start opens nothing', async () => {
    const run = new FileLock().run('/nonexistent/k.lock', () => 1, {
      waitMs,
      signal: AbortSignal.abort(new Error('never mind')),
      create: noCreation
    })
    await expect(run).rejects.toThrow('never mind')
  })

  it('in the instant in which the lock is got keeps the section from running', async () => {
    const path = lockFile()
    const abort = new AbortController()
    const abortingFlock: TryFlock = (descriptor) => {
      const got = tryFlock(descriptor)
      if (got) abort.abort(new Error('just now'))
      return got
    }
    const run = new FileLock(abortingFlock).run(path, () => expect.unreachable('it ran'), {
      waitMs,
      signal: abort.signal,
      create: noCreation
    })
    await expect(run).rejects.toThrow('just now')
    expect(openFiles(path)).toEqual([])
  })

  it('of a claim that waits for the lock leaves the lease as it was', async () => {
    const { store, files, root } = party()
    const holder = store()
    await holder.release(await claimed(holder))
    const unlock = lockedByAnother(files.lock)
    const abort = new AbortController()
    const claim = store().claim(request({ signal: abort.signal }))
    abort.abort(new Error('enough'))
    await expect(claim).rejects.toThrow('enough')
    unlock()
    expect(openFiles(root)).toEqual([])
    expect(existsSync(files.lease)).toBe(false)
  })

  it('of a claim that waits to create its key leaves no descriptor', async () => {
    const { store, root } = party()
    const first = store()
    await claimed(first)
    const folder = openSync(first.folder, 'r')
    flockSync(folder, 'exnb')
    try {
      const abort = new AbortController()
      const claim = store().claim(request({ agent: { uid: 'new' }, signal: abort.signal }))
      abort.abort(new Error('enough'))
      await expect(claim).rejects.toThrow('enough')
      expect(openFiles(root)).toEqual([first.folder])
    } finally {
      closeSync(folder)
    }
  })
})

describe('creating a key while somebody is stopped in the middle of it', () => {
  it('goes on after a moment', async () => {
    const { store } = party()
    const first = store()
    await claimed(first)
    const folder = openSync(first.folder, 'r')
    flockSync(folder, 'exnb')
    try {
      expect(await claimed(store(), { agent: { uid: 'new' } })).toMatchObject({ epoch: 1 })
    } finally {
      closeSync(folder)
    }
  })
})

describe('a file system on which flock', () => {
  const errno = (code: string): TryFlock => {
    return () => {
      throw Object.assign(new Error(`${code}: flock`), { code })
    }
  }

  it.each(['ENOSYS', 'EOPNOTSUPP', 'ENOLCK', 'EINVAL'])(
    'fails with %s: a fault that says so and what to do, and nothing is held',
    async (code) => {
      const { store, files } = party()
      const mine = store({ flock: errno(code) })
      await expect(mine.claim(request())).rejects.toMatchObject({
        name: 'LeaseFault',
        code: 'lock-unsupported',
        errno: code,
        path: files.lock,
        message: expect.stringContaining('AGENTMUX_SHARED_DIR')
      })
      expect(existsSync(files.lease)).toBe(false)
    }
  )

  it('does nothing is found out by the first claim', async () => {
    const { store, files, root } = party()
    const mine = store({ flock: () => true })
    await expect(mine.claim(request())).rejects.toMatchObject({ code: 'lock-unsupported' })
    expect(existsSync(files.lease)).toBe(false)
    expect(openFiles(root)).toEqual([])
  })

  it('does nothing is found out by whoever already holds a lease, too', async () => {
    const { store } = party()
    const lease = await claimed(store())
    const mine = store({ flock: () => true })
    await expect(mine.verify(lease)).rejects.toMatchObject({ code: 'lock-unsupported' })
    await expect(mine.renew(lease)).rejects.toMatchObject({ code: 'lock-unsupported' })
    await expect(mine.release(lease)).rejects.toMatchObject({ code: 'lock-unsupported' })
  })

  it('cannot be called at all still lets one look', async () => {
    const { store } = party()
    await claimed(store())
    const missing: TryFlock = () => {
      throw new LeaseFault('not built', { code: 'lock-module-missing', path: 'fs-ext' })
    }
    const mine = store({ flock: missing })
    expect(mine.list()).toHaveLength(1)
    expect(mine.liveHolderOtherThan('7c0e2f4a-agent', '')).toMatchObject({ kind: 'held' })
    await expect(mine.claim(request())).rejects.toMatchObject({ code: 'lock-module-missing' })
    await expect(mine.claim(request({ agent: { uid: 'new' } }))).rejects.toMatchObject({
      code: 'lock-module-missing'
    })
    expect(readdirSync(mine.folder).filter((name) => name.startsWith('new'))).toEqual([])
  })

  it('works is asked once, not at every call', async () => {
    let calls = 0
    const counting: TryFlock = (descriptor) => {
      calls++
      return tryFlock(descriptor)
    }
    const path = lockFile()
    const lock = new FileLock(counting)
    for (let run = 0; run < 5; run++) await lock.run(path, () => 1, { waitMs, create: noCreation })
    expect(calls).toBe(6)
  })
})

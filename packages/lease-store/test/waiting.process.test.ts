/** Many processes wait for one key: all get their turn, those that are killed leave nothing behind, and lost events only slow it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeaseStore } from '../src/index.js'
import { Child } from './harness/child.js'
import { watchesOf } from './harness/descriptors.js'
import { diskFolder } from './harness/folder.js'
import { Lies } from './harness/lies.js'
import { claimed, UID } from './harness/parties.js'

const WAITER = fileURLToPath(new URL('./children/waiter.mjs', import.meta.url))
const OLDER = fileURLToPath(new URL('../../../bench/stress/older-build.mjs', import.meta.url))
const claim = { agent: { uid: UID }, blockId: 'child' }

function started(script: string, ...args: unknown[]) {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['pipe', 'inherit', 'inherit']
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return { pid: child.pid as number, ended: once(child, 'exit') }
}

async function waitingFor(count: number, root: string): Promise<Child[]> {
  const waiters = Array.from({ length: count }, () => new Child(root))
  for (const child of waiters) child.do('wait', { uid: UID }).catch(() => {})
  await expect.poll(() => waiters.every(({ pid }) => watchesOf(pid) > 0), { timeout: 60_000 }).toBe(true)
  return waiters
}

describe('many processes that wait for one key', () => {
  it('all get their turns, while older builds look and claim, waiting in the kernel', {
    timeout: 300_000
  }, async () => {
    const root = diskFolder()
    const log = join(root, 'log')
    const first = LeaseStore.open(root)
    const lease = await claimed(first)
    for (const mode of ['look', 'claim']) started(OLDER, root, UID, mode, '', mode, 5)
    const waiters = Array.from({ length: 8 }, () => started(WAITER, root, UID, log, 3))
    await expect.poll(() => waiters.every(({ pid }) => watchesOf(pid) > 0), { timeout: 120_000 }).toBe(true)
    await first.release(lease)
    for (const { ended } of waiters) expect(await ended).toEqual([0, null])
    const turns = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
    for (const { pid } of waiters) expect(turns.filter(([, by]) => by === String(pid))).toHaveLength(3)
    const epochs = turns.map(([epoch]) => Number(epoch))
    expect(epochs).toEqual([...new Set(epochs)].sort((one, other) => one - other))
  })

  it('are not held up by those that are killed or stopped, and these leave no file behind', async () => {
    const root = diskFolder()
    const holder = LeaseStore.open(root)
    const lease = await claimed(holder)
    const waiters = await waitingFor(4, root)
    const [killed, stopped, ...awake] = waiters as [Child, Child, ...Child[]]
    await killed.signal('SIGKILL')
    await stopped.signal('SIGSTOP')
    expect(readdirSync(join(root, 'leases')).sort()).toEqual([
      `${UID}.epoch`,
      `${UID}.lease.json`,
      `${UID}.lock`
    ])
    await holder.release(lease)
    const kinds = await Promise.all(awake.map(async (child) => (await child.do('claim', claim)).kind))
    expect([...kinds].sort()).toEqual(['granted', 'refused'])
    await stopped.signal('SIGCONT')
    await awake[kinds.indexOf('granted')]?.do('release')
    expect(await stopped.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 3 } })
  })
})

describe('where no inotify instance is left', () => {
  it.each(['EMFILE', 'ENOSPC'] as const)('(%s) a release is still noticed, only later', async (inotify) => {
    const root = diskFolder()
    const holder = LeaseStore.open(root)
    const lease = await claimed(holder)
    const child = new Child(root, { env: new Lies({ inotify }).env })
    expect(await child.do('claim', claim)).toMatchObject({ kind: 'refused' })
    const wait = child.do('wait', { uid: UID })
    await holder.release(lease)
    await wait
    expect(watchesOf(child.pid)).toBe(0)
    expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 2 } })
  })
})

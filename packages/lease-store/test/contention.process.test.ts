/** Many processes want one key: never two at a time, never an epoch twice. Audited by what they append themselves. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeaseStore } from '../src/index.js'
import { diskFolder } from './harness/folder.js'
import { claimed, UID } from './harness/parties.js'

const RACER = fileURLToPath(new URL('./children/racer.mjs', import.meta.url))

interface Racer {
  readonly child: ChildProcess
  /** The next line it prints. */
  next(): Promise<string>
  go(): void
}

async function racer(root: string, audit = ''): Promise<Racer> {
  const child = spawn(process.execPath, [RACER, root, UID, audit], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  child.stdin?.on('error', () => {})
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const next = async () => String((await lines.next()).value)
  expect(await next()).toBe('ready')
  return { child, next, go: () => child.stdin?.write('go\n') }
}

async function racers(count: number, root: string, audit?: string): Promise<Racer[]> {
  return Promise.all(Array.from({ length: count }, () => racer(root, audit)))
}

async function killed({ child }: Racer): Promise<number> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  return child.pid as number
}

interface Line {
  readonly what: 'begin' | 'end' | 'lost'
  readonly epoch: number
  readonly pid: number
}

function linesOf(audit: string): Line[] {
  if (!existsSync(audit)) return []
  const whole = readFileSync(audit, 'utf8').split('\n').slice(0, -1)
  return whole.map((line) => {
    const [what, epoch, pid] = line.split(' ')
    return { what: what as Line['what'], epoch: Number(epoch), pid: Number(pid) }
  })
}

/** What must not be there: two who drove at the same time, an epoch twice, a holder that lost its lease. */
function faultsIn(lines: readonly Line[], dead: ReadonlySet<number>): string[] {
  const faults: string[] = []
  let driving: Line | undefined
  let highest = 0
  for (const line of lines) {
    if (line.what === 'begin') {
      if (driving !== undefined && !dead.has(driving.pid))
        faults.push(`${line.pid} began while ${driving.pid} drove`)
      if (line.epoch <= highest) faults.push(`epoch ${line.epoch} after ${highest}`)
      highest = line.epoch
      driving = line
    } else if (line.what === 'lost') {
      faults.push(`${line.pid} lost epoch ${line.epoch}`)
    } else {
      if (driving?.epoch !== line.epoch || driving.pid !== line.pid)
        faults.push(`${line.pid} ended out of turn`)
      driving = undefined
    }
  }
  return faults
}

const begun = (audit: string) => linesOf(audit).filter(({ what }) => what === 'begin')

describe('the audit itself', () => {
  it('finds an overlap, an epoch twice, a lost lease', () => {
    const line = (what: Line['what'], epoch: number, pid: number): Line => ({ what, epoch, pid })
    const none = new Set<number>()
    expect(faultsIn([line('begin', 1, 7), line('end', 1, 7), line('begin', 2, 8)], none)).toEqual([])
    expect(faultsIn([line('begin', 1, 7), line('begin', 2, 8)], none)).toHaveLength(1)
    expect(faultsIn([line('begin', 1, 7), line('begin', 2, 8)], new Set([7]))).toEqual([])
    expect(faultsIn([line('begin', 1, 7), line('end', 1, 7), line('begin', 1, 8)], none)).toHaveLength(1)
    expect(faultsIn([line('begin', 1, 7), line('end', 1, 7), line('lost', 1, 7)], none)).toHaveLength(1)
    expect(faultsIn([line('begin', 1, 7), line('end', 1, 8)], none)).toHaveLength(1)
  })
})

describe('fifty processes that race for one expired lease', () => {
  it('have one winner, and give no epoch twice', { timeout: 300_000 }, async () => {
    const root = diskFolder()
    const first = LeaseStore.open(root, { ttlMs: 500 })
    await claimed(first)
    const all = await racers(50, root)
    await first.waitForRelease(UID)
    for (const { go } of all) go()
    const answers = await Promise.all(all.map(async ({ next }) => JSON.parse(await next())))
    expect(answers.filter(({ kind }) => kind === 'granted')).toEqual([{ kind: 'granted', epoch: 2 }])
    expect(answers.filter(({ kind, epoch }) => kind === 'refused' && epoch === 2)).toHaveLength(49)
    expect(readFileSync(`${root}/leases/${UID}.epoch`, 'utf8')).toBe('2\n')
  })

  it('have one winner for a key that was never used, too', { timeout: 300_000 }, async () => {
    const root = diskFolder()
    const all = await racers(12, join(root, 'not', 'there', 'yet'))
    for (const { go } of all) go()
    const answers = await Promise.all(all.map(async ({ next }) => JSON.parse(await next())))
    expect(answers.filter(({ kind }) => kind === 'granted')).toEqual([{ kind: 'granted', epoch: 1 }])
    expect(answers.filter(({ kind, epoch }) => kind === 'refused' && epoch === 1)).toHaveLength(11)
  })
})

describe('eight processes that claim and release over and over', () => {
  it('never drive at the same time, under ever higher epochs', { timeout: 300_000 }, async () => {
    const root = diskFolder()
    const audit = join(root, 'audit')
    const all = await racers(8, root, audit)
    for (const { go } of all) go()
    await expect.poll(() => begun(audit).length, { timeout: 240_000, interval: 200 }).toBeGreaterThan(400)
    const claims = linesOf(audit).length
    await Promise.all(all.map(killed))
    // They were killed one after the other, so only one of them may have been followed while it drove.
    const dead = new Set(all.map(({ child }) => child.pid as number))
    expect(faultsIn(linesOf(audit).slice(0, claims), new Set())).toEqual([])
    expect(faultsIn(linesOf(audit), dead)).toEqual([])
    expect(new Set(begun(audit).map(({ pid }) => pid)).size).toBeGreaterThan(1)
  })

  it('go on under the next epoch when the one that drives is killed', { timeout: 300_000 }, async () => {
    const root = diskFolder()
    const audit = join(root, 'audit')
    const all = await racers(4, root, audit)
    for (const { go } of all) go()
    const dead = new Set<number>()
    for (const victim of all) {
      const before = begun(audit).length
      await expect.poll(() => begun(audit).length, { timeout: 60_000 }).toBeGreaterThan(before + 20)
      dead.add(await killed(victim))
      if (dead.size === all.length - 1) break
    }
    const [last] = all.slice(-1)
    await expect.poll(() => begun(audit).at(-1)?.pid, { timeout: 60_000 }).toBe(last?.child.pid)
    expect(faultsIn(linesOf(audit), dead)).toEqual([])
    for (const survivor of all.slice(-1)) await killed(survivor)
    const { epoch } = await claimed(LeaseStore.open(root))
    expect(epoch).toBeGreaterThan(begun(audit).at(-1)?.epoch ?? 0)
  })
})

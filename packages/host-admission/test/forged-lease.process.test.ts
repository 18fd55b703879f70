/** A lease file is only a word: nothing may be signalled on it that is not ours and does not carry its claim (R15). */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTicksOf } from '../src/process-stat.js'
import { compileProgram } from './fixture/compile.js'
import { eventually, runs } from './fixture/running.js'
import { fixture, Scratch } from './fixture/scratch.js'
import { type HolderOptions, TestHolder } from './fixture/test-holder.js'

const UID = 'agent'
const CLAIM = 'forged-claim'
const asRoot = process.getuid?.() === 0
const MARK = { AGENTMUX_CLAIM_ID: CLAIM }
const UNMARKED = ['env', '-u', 'AGENTMUX_CLAIM_ID'] as const
/** Root reads every environment, unless it is root in a namespace of its own only. */
const WITHOUT_SIGHT: HolderOptions = asRoot ? { through: ['unshare', '--user', '--map-root-user'] } : {}

let scratch: Scratch
beforeEach(() => {
  scratch = new Scratch()
  // Another user has to be able to write its log there, and nothing else.
  chmodSync(scratch.folder, 0o711)
  mkdirSync(scratch.path('logs'))
  chmodSync(scratch.path('logs'), 0o777)
})
afterEach(() => scratch.dispose())

interface Victim {
  readonly pid: number
  /** Whether it runs and has got no signal at all. */
  readonly untouched: () => boolean
}

async function victim(command: string[], env: NodeJS.ProcessEnv): Promise<Victim> {
  const log = scratch.path(`logs/${command.length}-${Object.keys(env).length}.log`)
  const [file = '', ...args] = [...command, log]
  const { pid = 0 } = scratch.spawn(file, args, env)
  await eventually('the victim listens', () => existsSync(log))
  return { pid, untouched: () => runs(pid) && readFileSync(log, 'utf8') === 'up\n' }
}

/** As text: another user may not be able to read it where it is. */
const listen = ['sh', '-c', readFileSync(fixture('victim.sh'), 'utf8'), 'sh']
const ours = (env: NodeJS.ProcessEnv) => victim(listen, env)
const nobodys = (env: NodeJS.ProcessEnv) =>
  victim(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...listen], env)
/** Of another user, with root's rights for now: a setuid program. */
const setuid = (env: NodeJS.ProcessEnv) =>
  victim(['setpriv', '--ruid=65534', process.execPath, fixture('victim.mjs')], env)

async function contend(options: HolderOptions = {}) {
  // A grace that no test waits for: whoever signals has to send SIGTERM first.
  const holder = await TestHolder.run(scratch, { previousGraceMs: 1, ...options })
  const answer = await holder.acquire(UID)
  return { holder, kind: answer.kind, refusal: answer.refusal as Refused | undefined }
}

interface Refused {
  readonly kind: string
  readonly message: string
  readonly processes: readonly { pid: number; because: string }[]
}

describe('a lease whose recorded child carries no mark of the claim', () => {
  it('is taken over without a signal to that process, ours', async () => {
    const other = await ours({})
    scratch.forge(UID, { claim_id: CLAIM, driver_pid: other.pid })
    expect((await contend()).kind).toBe('granted')
    expect(other.untouched()).toBe(true)
  })

  it.runIf(asRoot)('is taken over without a signal to that process, of another user', async () => {
    const other = await nobodys({})
    scratch.forge(UID, { claim_id: CLAIM, driver_pid: other.pid })
    expect((await contend()).kind).toBe('granted')
    expect(other.untouched()).toBe(true)
  })

  it('is taken over without a signal to pid 1, or to what started us', async () => {
    for (const driver_pid of [1, process.pid]) {
      scratch.forge(UID, { claim_id: CLAIM, driver_pid })
      const { holder, kind } = await contend()
      expect(kind).toBe('granted')
      holder.send('release', { uid: UID })
      await holder.next('released')
    }
  })
})

describe('a claim whose mark is carried by a process that is not ours to end', () => {
  it('is refused, naming the process: ourselves', async () => {
    scratch.forge(UID, { claim_id: CLAIM })
    const { holder, kind, refusal } = await contend({ env: MARK })
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([expect.objectContaining({ pid: holder.pid, because: 'protected' })])
    expect(refusal?.message).toContain(String(holder.pid))
    expect(runs(holder.pid)).toBe(true)
  })

  it('is refused, naming the process: what started us', async () => {
    scratch.forge(UID, { claim_id: CLAIM })
    // The shell stays, and carries the mark; the contender below it does not.
    const through = ['sh', '-c', '"$@"; exit $?', 'sh', ...UNMARKED] as const
    const { holder, kind, refusal } = await contend({ env: MARK, through: [...through] })
    expect(kind).toBe('refused')
    const [parent] = refusal?.processes ?? []
    expect(parent).toMatchObject({ because: 'protected' })
    expect(parent?.pid).not.toBe(holder.pid)
    expect(runs(Number(parent?.pid))).toBe(true)
    expect(refusal?.message).toContain(String(parent?.pid))
  })

  it.runIf(asRoot)('is refused, naming the process: of another user', async () => {
    const other = await nobodys(MARK)
    scratch.forge(UID, { claim_id: CLAIM })
    const { kind, refusal } = await contend()
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([expect.objectContaining({ pid: other.pid, because: 'another-user' })])
    expect(refusal?.message).toContain(String(other.pid))
    expect(other.untouched()).toBe(true)
  })

  it.runIf(asRoot)('is refused, naming the process: of another user, with our rights for now', async () => {
    const other = await setuid(MARK)
    scratch.forge(UID, { claim_id: CLAIM })
    const { kind, refusal } = await contend()
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([expect.objectContaining({ pid: other.pid, because: 'another-user' })])
    expect(other.untouched()).toBe(true)
  })

  it('is refused, naming the process: the recorded child, which hides what it carries', async () => {
    const child = scratch.spawn(compileProgram('hides'), [])
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const { pid = 0 } = child
    scratch.forge(UID, { claim_id: CLAIM, driver_pid: pid, driver_start_ticks: startTicksOf(pid) ?? 0 })
    const { kind, refusal } = await contend(WITHOUT_SIGHT)
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([expect.objectContaining({ pid, because: 'unverified' })])
    expect(runs(pid)).toBe(true)
  })

  it.runIf(asRoot)('is refused without a signal to those that are ours: all or nothing', async () => {
    const [other, own] = [await nobodys(MARK), await ours(MARK)]
    scratch.forge(UID, { claim_id: CLAIM })
    const { kind, refusal } = await contend()
    expect(kind).toBe('refused')
    expect(refusal?.processes.map(({ pid }) => pid)).toEqual([other.pid])
    expect(other.untouched()).toBe(true)
    expect(own.untouched()).toBe(true)
  })
})

describe('a lease that others could have written', () => {
  it.each([
    ['the lease folder', () => chmodSync(scratch.leases, 0o770)],
    ['the registry root', () => chmodSync(scratch.registryRoot, 0o707)],
    ['the lease file', () => chmodSync(scratch.leaseFile(UID), 0o666)],
    ['a folder further up', () => chmodSync(scratch.folder, 0o777)]
  ])('ends no process that carries its claim: they can write %s', async (_, open) => {
    const own = await ours(MARK)
    scratch.forge(UID, { claim_id: CLAIM })
    open()
    const { kind, refusal } = await contend()
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([
      expect.objectContaining({ pid: own.pid, because: 'untrusted-lease' })
    ])
    expect(refusal?.message).toContain(String(own.pid))
    expect(own.untouched()).toBe(true)
  })

  it.runIf(asRoot).each([
    ['the lease folder', () => chownSync(scratch.leases, 65534, 65534)],
    ['the lease file', () => chownSync(scratch.leaseFile(UID), 65534, 65534)],
    ['a folder further up', () => chownSync(scratch.folder, 65534, 65534)]
  ])('ends no process that carries its claim: they own %s', async (_, give) => {
    const own = await ours(MARK)
    scratch.forge(UID, { claim_id: CLAIM })
    give()
    const { kind, refusal } = await contend()
    expect(kind).toBe('refused')
    expect(refusal?.processes).toEqual([
      expect.objectContaining({ pid: own.pid, because: 'untrusted-lease' })
    ])
    expect(own.untouched()).toBe(true)
  })

  it('has what carries its claim ended where only we can have written it', async () => {
    const own = await ours(MARK)
    scratch.forge(UID, { claim_id: CLAIM })
    expect((await contend()).kind).toBe('granted')
    expect(runs(own.pid)).toBe(false)
  })
})

import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentLines } from './fixture/audit.js'
import { compileLibrary } from './fixture/compile.js'
import { bootMs, carrying, eventually, runs } from './fixture/running.js'
import { fixture, Scratch } from './fixture/scratch.js'
import { type HolderOptions, TestHolder } from './fixture/test-holder.js'

/** A machine may be busy: this much later than due is not late yet. */
const TOLERANCE_MS = 3_000
let scratch: Scratch
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  claims = []
})
afterEach(() => scratch.dispose(claims))

async function drive(holder: TestHolder, uid: string, environment: string[] = []): Promise<string> {
  const { kind, claimId } = await holder.acquire(uid)
  expect(kind).toBe('granted')
  claims.push(String(claimId))
  const log = scratch.path(`${uid}.log`)
  await holder.start(uid, ['env', ...environment, 'sh', fixture('agent.sh'), log, 'shim'])
  const roles = ['shim', 'native', 'grandchild']
  await eventually('the agent and its children run', () =>
    roles.every((role) => agentLines(log).some((line) => line.role === role))
  )
  return String(claimId)
}

interface Gone {
  /** Milliseconds from the start of the last good renewal until nothing carried the claim any more. */
  readonly afterMs: number
  /** The same, less what this process itself was kept waiting at most: a busy machine keeps the watchdog waiting too. */
  readonly fairMs: number
}

async function gone(uid: string, claimId: string): Promise<Gone> {
  let lookedMs = performance.now()
  let waitedMs = 0
  await eventually(`${uid} and all it started is gone`, () => {
    const nothing = carrying(claimId).length === 0
    waitedMs = Math.max(waitedMs, performance.now() - lookedMs)
    lookedMs = performance.now()
    return nothing
  })
  const afterMs = bootMs() - Number(scratch.lease(uid)?.renewed_boot_ms)
  return { afterMs, fairMs: afterMs - waitedMs }
}

describe('a holder that cannot confirm its lease because its main thread is blocked', () => {
  it.each([
    ['ends in order', []],
    ['ignores SIGTERM', ['STUBBORN=1']]
  ])('has its whole tree ended by the deadline: the agent %s', async (_, environment) => {
    const ttlMs = 4_500
    const holder = await TestHolder.run(scratch, { ttlMs })
    const claimId = await drive(holder, 'agent', environment)
    const until = scratch.path('unblock')
    holder.send('block', { until })
    await holder.next('blocking')

    expect((await gone('agent', claimId)).fairMs).toBeLessThan((ttlMs * 13) / 15 + TOLERANCE_MS)
    writeFileSync(until, '')
    const lost = await holder.next('lost')
    expect(lost.reason).toBe('unconfirmed')
    holder.send('release', { uid: 'agent' })
    expect(await holder.next('released')).toMatchObject({ kind: 'not-held' })
    // The lease was still its own, and nothing runs: given back, so nobody waits for the TTL.
    expect(scratch.lease('agent')).toBeUndefined()
    await holder.ended()
    expect(holder.all('lost')).toHaveLength(1)
  })

  it('has it ended by 13 s with the TTL of 15 s, blocked for 20 s', async () => {
    const holder = await TestHolder.run(scratch)
    const [gentle, stubborn] = [
      await drive(holder, 'gentle'),
      await drive(holder, 'stubborn', ['STUBBORN=1'])
    ]
    const until = scratch.path('unblock')
    holder.send('block', { until })
    await holder.next('blocking')
    const unblock = setTimeout(() => writeFileSync(until, ''), 20_000)

    const [soon, late] = await Promise.all([gone('gentle', gentle), gone('stubborn', stubborn)])
    clearTimeout(unblock)
    writeFileSync(until, '')
    // Not before: two renewals may fail.
    expect(soon.afterMs).toBeGreaterThan(10_900)
    expect(soon.fairMs).toBeLessThan(13_000 + TOLERANCE_MS)
    expect(late.afterMs).toBeGreaterThan(12_900)
    expect(late.fairMs).toBeLessThan(13_000 + TOLERANCE_MS)
    await holder.next('lost', 2)
  })
})

it('has the tree of a holder ended by the deadline when its disk is frozen', async () => {
  const ttlMs = 4_500
  const freeze = scratch.path('freeze')
  const env = { LD_PRELOAD: compileLibrary('frozen-disk'), FREEZE: freeze }
  const holder = await TestHolder.run(scratch, { ttlMs, env })
  const claimId = await drive(holder, 'agent', ['STUBBORN=1'])
  writeFileSync(freeze, '')

  expect((await gone('agent', claimId)).fairMs).toBeLessThan((ttlMs * 13) / 15 + TOLERANCE_MS)
  // It really hangs: it says nothing of all this.
  expect(runs(holder.pid)).toBe(true)
  expect(holder.all('lost')).toEqual([])
})

it('has the tree of a holder ended by the deadline when it has run out of file descriptors', async () => {
  const ttlMs = 4_500
  const holder = await TestHolder.run(scratch, {
    ttlMs,
    through: ['sh', '-c', 'ulimit -n 128 && exec "$@"', 'sh']
  })
  const claimId = await drive(holder, 'agent', ['STUBBORN=1'])
  holder.send('exhaustDescriptors')
  expect(await holder.next('exhausted')).toMatchObject({ code: 'EMFILE' })

  expect((await gone('agent', claimId)).fairMs).toBeLessThan((ttlMs * 13) / 15 + TOLERANCE_MS)
  expect((await holder.next('lost')).reason).toBe('unconfirmed')
})

it('keeps the lease when it cannot be found out what runs under it (R8)', async () => {
  const holder = await TestHolder.run(scratch, { through: ['sh', '-c', 'ulimit -n 128 && exec "$@"', 'sh'] })
  const { claimId } = await holder.acquire('agent')
  claims.push(String(claimId))
  await holder.start('agent', ['sh', '-c', 'setsid sleep 600 &'])
  await holder.next('child-exit')
  await eventually('only what it left behind runs', () => carrying(String(claimId)).length === 1)
  holder.send('exhaustDescriptors')
  await holder.next('exhausted')
  holder.send('release', { uid: 'agent' })
  expect(await holder.next('error')).toMatchObject({ code: 'io', message: expect.stringContaining('/proc') })
  expect(scratch.lease('agent')).toMatchObject({ claim_id: claimId })
})

it('renews at once when the wall clock is stepped, forwards and back', async () => {
  const ahead = scratch.path('ahead')
  const step = (seconds: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(seconds))
    writeFileSync(ahead, bytes, { flag: 'r+' })
  }
  writeFileSync(ahead, Buffer.alloc(8))
  // The next regular renewal is minutes away.
  const options: HolderOptions = {
    ttlMs: 600_000,
    env: { LD_PRELOAD: compileLibrary('stepped-clock'), CLOCK_AHEAD: ahead }
  }
  const holder = await TestHolder.run(scratch, options)
  await drive(holder, 'agent')
  for (const seconds of [3 * 3_600, -3 * 3_600, 0]) {
    step(seconds)
    await eventually(`it renews under a clock ahead by ${seconds} s`, () => {
      const aheadMs = Number(scratch.lease('agent')?.renewed_at_ms) - Date.now()
      return Math.abs(aheadMs - seconds * 1_000) < 600_000
    })
  }
  holder.send('verify', { uid: 'agent' })
  expect(await holder.next('verified')).toMatchObject({ kind: 'held' })
  expect(holder.all('lost')).toEqual([])
})

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { AdmissionFault, type HeldAgentLease, type HostAdmission } from '@agentmux/host-admission'
import { createInstanceIdentity } from '@agentmux/lease-store'
import { isAdmissionRefusal, type Refusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostAdmission as SourceAdmission } from '../src/host-admission.js'
import { admissionOf, driven, manualClock } from './fixture/admission.js'
import { carrying, eventually, runs } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'
import { TestHolder } from './fixture/test-holder.js'

const agent = { uid: 'agent', name: 'Agent3' }
let scratch: Scratch
let admission: HostAdmission
let losses: Refusal[]
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  losses = []
  claims = []
  admission = admissionOf(scratch)
})
afterEach(async () => {
  await admission.close({ graceMs: 0 })
  scratch.dispose(claims)
})

async function acquire(options: { blockId?: string } = {}): Promise<HeldAgentLease> {
  const onLost = (refusal: Refusal) => losses.push(refusal)
  const result = await admission.acquire(agent, { blockId: 'block', onLost, ...options })
  if (result.kind !== 'granted') throw new Error(result.refusal.message)
  claims.push(result.lease.claimId)
  return result.lease
}

async function drive(lease: HeldAgentLease, command = ['sleep', '600']): Promise<number> {
  const [file = '', ...args] = command
  const started = await lease.start(
    (): ChildProcess =>
      spawn(file, args, {
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, ...lease.environment }
      }).once('exit', () => lease.driverExited()),
    { ownGroup: true }
  )
  if (started.kind !== 'started') throw new Error(started.refusal.message)
  return Number(started.child.pid)
}

describe('the same process', () => {
  it('claims anew for the same block: same epoch and start, the older handle fenced and its child ended', async () => {
    const older = await acquire()
    const pid = await drive(older)
    const newer = await acquire()
    expect(newer.epoch).toBe(older.epoch)
    expect(newer.acquiredAtMs).toBe(older.acquiredAtMs)
    expect(newer.claimId).not.toBe(older.claimId)
    expect(runs(pid)).toBe(false)
    expect(losses).toEqual([expect.objectContaining({ kind: 'lost', reason: 'reclaimed' })])
    expect(await older.verify()).toMatchObject({ kind: 'lost', refusal: { reason: 'reclaimed' } })

    expect(await older.release()).toEqual({ kind: 'not-held' })
    expect(scratch.lease('agent')).toMatchObject({ claim_id: newer.claimId })
    expect(await newer.verify()).toEqual({ kind: 'held' })
    expect(admission.held.size).toBe(1)
  })

  it('has ended the older child before the file names the newer claim: a crash in between loses no trace', async () => {
    const older = await acquire()
    // It takes its time to end, and nothing else may happen meanwhile.
    const pid = await drive(older, [
      'sh',
      '-c',
      'trap "sleep 0.3; exit" TERM; echo ready; while :; do sleep 0.05; done'
    ])
    await eventually('it listens', () => carrying(older.claimId).length > 1)
    const acquiring = acquire()
    while (runs(pid)) {
      expect(scratch.lease('agent')).toMatchObject({ claim_id: older.claimId })
      await pause(2)
    }
    const newer = await acquiring
    expect(scratch.lease('agent')).toMatchObject({ claim_id: newer.claimId })
  })

  it('is refused for another block', async () => {
    const lease = await acquire()
    const result = await admission.acquire(agent, { blockId: 'another' })
    expect(result).toMatchObject({ kind: 'refused', refusal: { kind: 'held', holder: { pid: process.pid } } })
    expect(await lease.verify()).toEqual({ kind: 'held' })
  })

  it('has one valid lease after claiming twice at once: the newer claim counts', async () => {
    const results = await Promise.all([1, 2].map(() => admission.acquire(agent, { blockId: 'block' })))
    const checks = await Promise.all(
      results.map((result) => (result.kind === 'granted' ? result.lease.verify() : result))
    )
    expect(checks).toEqual([
      expect.objectContaining({ refusal: expect.objectContaining({ kind: 'lost', reason: 'reclaimed' }) }),
      { kind: 'held' }
    ])
    expect(admission.held.size).toBe(1)
  })

  it('can claim while the release of the same block is under way', async () => {
    const older = await acquire()
    const pid = await drive(older)
    const [given, newer] = await Promise.all([older.release(), acquire()])
    expect(['released', 'not-held']).toContain(given.kind)
    expect(runs(pid)).toBe(false)
    expect(await newer.verify()).toEqual({ kind: 'held' })
    expect(scratch.lease('agent')).toMatchObject({ claim_id: newer.claimId })
  })
})

describe('another process', () => {
  it('is refused while the holder lives, with who holds it, where and since when', async () => {
    await acquire()
    const contender = await TestHolder.run(scratch)
    const { kind, refusal } = await contender.acquire('agent')
    expect(kind).toBe('refused')
    expect(refusal).toMatchObject({
      kind: 'held',
      holder: { pid: process.pid, channel: 'test' },
      exitCode: 75
    })
    expect(isAdmissionRefusal((refusal as Refusal).message)).toBe(true)
  })

  it('gets the agent as soon as it is released', async () => {
    const lease = await acquire()
    await drive(lease)
    await lease.release()
    const contender = await TestHolder.run(scratch)
    expect(await contender.acquire('agent')).toMatchObject({ kind: 'granted', epoch: lease.epoch + 1 })
  })
})

describe('lease files that cannot be used', () => {
  it('are tried once more after 100 ms, and then it is not known: no marker, nothing to take over', async () => {
    writeFileSync(scratch.registryRoot, 'not a folder')
    const clock = manualClock()
    const other = admissionOf(scratch, { clock })
    const acquiring = other.acquire(agent, { blockId: 'block' })
    let settled = false
    void acquiring.finally(() => {
      settled = true
    })
    await clock.advance(99)
    expect(settled).toBe(false)
    const result = await driven(clock, acquiring)
    expect(result).toMatchObject({ kind: 'unknown', refusal: { kind: 'io', exitCode: 69 } })
    if (result.kind !== 'granted') {
      expect(isAdmissionRefusal(result.refusal.message)).toBe(false)
      expect(result.refusal.message).toContain(scratch.registryRoot)
    }
    await other.close()
  })

  it('do no harm if they can be used the second time', async () => {
    const clock = manualClock()
    const other = admissionOf(scratch, { clock })
    mkdirSync(scratch.leases, { recursive: true, mode: 0o700 })
    mkdirSync(`${scratch.leases}/agent.lock`)
    const acquiring = other.acquire(agent, { blockId: 'block' })
    await clock.advance(50)
    rmdirSync(`${scratch.leases}/agent.lock`)
    const result = await driven(clock, acquiring)
    expect(result.kind).toBe('granted')
    await driven(clock, other.close(), 20)
  })
})

describe('an acquire that is aborted', () => {
  it('leaves nothing behind, at whatever point that was', async () => {
    let aborted = 0
    for (let turns = 0; turns < 60; turns++) {
      const abort = new AbortController()
      const acquiring = admission.acquire(agent, { blockId: 'block', signal: abort.signal })
      const outcome = acquiring.then(
        (result) => result,
        (reason) => reason
      )
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      abort.abort(new Error('enough'))
      const result = await outcome
      if (result instanceof Error) {
        expect(result.message).toBe('enough')
        aborted++
      } else {
        expect(result.kind).toBe('granted')
        await result.lease.release()
      }
      expect(scratch.lease('agent')).toBeUndefined()
      expect(admission.held.size).toBe(0)
    }
    expect(aborted).toBeGreaterThan(0)
    await expect(
      admission.acquire(agent, { blockId: 'block', signal: AbortSignal.abort() })
    ).rejects.toThrow()
  })

  it('leaves the processes of the claim before to the next one, if it was ending them', async () => {
    const { pid = 0 } = scratch.spawn('sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], {
      AGENTMUX_CLAIM_ID: 'forged-claim'
    })
    claims.push('forged-claim')
    await eventually('it runs', () => carrying('forged-claim').length > 1)
    scratch.forge('agent', { claim_id: 'forged-claim' })
    const other = admissionOf(scratch, { previousGraceMs: 600_000 })
    const abort = new AbortController()
    const acquiring = other.acquire(agent, { blockId: 'block', signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 50)
    await expect(acquiring).rejects.toThrow('enough')
    expect(scratch.lease('agent')).toMatchObject({ claim_id: 'forged-claim' })
    expect(other.held.size).toBe(0)
    expect(runs(pid)).toBe(true)
    await other.close()

    const next = admissionOf(scratch, { previousGraceMs: 0 })
    expect((await next.acquire(agent, { blockId: 'block' })).kind).toBe('granted')
    expect(runs(pid)).toBe(false)
    await next.close()
  })
})

it('lets other work have its turn with every claim: thousands in a row must not keep renewals waiting', async () => {
  // Also waits for the watchdog.
  await acquire()
  let turns = 0
  let next: NodeJS.Immediate | undefined
  const work = () => {
    turns++
    next = setImmediate(work)
  }
  work()
  for (let index = 0; index < 50; index++) {
    await admission.acquire({ uid: `agent-${index}` }, { blockId: 'block' })
  }
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(50)
})

describe('close', () => {
  it('releases whatever is held, ending what runs under it, many at once', async () => {
    const leases = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const result = await admission.acquire({ uid: `agent-${index}` }, { blockId: 'block' })
        if (result.kind !== 'granted') throw new Error(result.refusal.message)
        claims.push(result.lease.claimId)
        return result.lease
      })
    )
    const pids = await Promise.all(leases.slice(0, 5).map((lease) => drive(lease)))
    expect(admission.held.size).toBe(300)
    await admission.close()
    expect(admission.held.size).toBe(0)
    expect(pids.some(runs)).toBe(false)
    expect(readdirSync(scratch.leases).filter((name) => name.endsWith('.lease.json'))).toEqual([])
  })

  it('stops what is being acquired, and nothing can be acquired after it', async () => {
    const acquiring = admission.acquire(agent, { blockId: 'block' })
    const refused = expect(acquiring).rejects.toMatchObject({ name: 'AdmissionFault', code: 'closed' })
    await admission.close()
    await refused
    expect(scratch.lease('agent')).toBeUndefined()
    await expect(admission.acquire(agent, { blockId: 'block' })).rejects.toThrow(AdmissionFault)
    expect(() => admission.warmUp()).toThrow(AdmissionFault)
    await admission.close()
  })

  it('reports what could not be released', async () => {
    const faults: unknown[] = []
    const other = admissionOf(scratch, { onFault: (_, fault) => faults.push(fault) })
    await other.acquire(agent, { blockId: 'block' })
    const scratchLock = `${scratch.leases}/agent.lock`
    renameSync(scratchLock, `${scratchLock}-away`)
    mkdirSync(scratchLock)
    await other.close()
    // A renewal may have met it first: on a machine that is busy the watchdog asks for one at any time.
    expect(faults).not.toHaveLength(0)
    for (const fault of faults) expect(fault).toMatchObject({ name: 'LeaseFault', code: 'io' })
  })
})

describe('a process that holds nothing any more', () => {
  it('ends by itself: after a release, a loss, a refusal, an abort, and without a close', async () => {
    const holder = await TestHolder.run(scratch)
    expect((await holder.acquire('released')).kind).toBe('granted')
    holder.send('release', { uid: 'released' })
    await holder.next('released')
    expect((await holder.acquire('lost')).kind).toBe('granted')
    scratch.forge('lost', {})
    holder.send('verify', { uid: 'lost' })
    await holder.next('lost')
    expect((await holder.acquire('lost')).kind).toBe('granted')
    holder.send('release', { uid: 'lost' })
    await holder.next('released', 2)
    holder.send('acquire', { uid: 'aborted' })
    holder.send('abort')
    await holder.until('an answer', () => holder.all('error')[0] ?? holder.all('acquired')[3])
    if (holder.all('acquired').length > 3) holder.send('release', { uid: 'aborted' })
    expect(await holder.ended()).toEqual({ code: 0, signal: null })
  })
})

describe('the watchdog', () => {
  it('counts no renewal that comes through after it has fenced the lease', async () => {
    await admission.close()
    admission = admissionOf(scratch, { ttlMs: 4_500 })
    const lease = await acquire()
    const pid = await drive(lease)
    // Somebody keeps the lock: the renewals wait for it, beyond the deadline.
    const locker = scratch.spawn('flock', [`${scratch.leases}/agent.lock`, 'sh', '-c', 'echo locked; cat'])
    await new Promise((resolve) => locker.stdout?.once('data', resolve))
    await eventually('the lease is lost', () => lease.loss)
    locker.stdin?.end()
    await lease.fenced()
    expect(runs(pid)).toBe(false)
    expect(losses).toEqual([expect.objectContaining({ reason: 'unconfirmed' })])
    expect(await lease.verify()).toMatchObject({ kind: 'lost', refusal: { reason: 'unconfirmed' } })
    // The file may say that it is ours and fresh: it is given back, not used.
    expect(await lease.release()).toEqual({ kind: 'not-held' })
    expect(scratch.lease('agent')).toBeUndefined()
    expect(losses).toHaveLength(1)
  })

  it('that dies has every lease given up, and a new one starts with the next acquire', async () => {
    const post = Worker.prototype.postMessage
    let thread: Worker | undefined
    Worker.prototype.postMessage = function (this: Worker, ...message: Parameters<typeof post>) {
      thread = this
      return post.apply(this, message)
    }
    const lease = await acquire()
    Worker.prototype.postMessage = post
    const pid = await drive(lease)
    await thread?.terminate()
    await eventually('the lease is lost', () => lease.loss)
    expect(await lease.fenced()).toMatchObject({ kind: 'ended' })
    expect(runs(pid)).toBe(false)
    expect(losses).toEqual([expect.objectContaining({ reason: 'unconfirmed' })])
    await lease.release()
    const next = await acquire()
    expect(await next.verify()).toEqual({ kind: 'held' })
  })

  it('that does not start keeps everything from being driven', async () => {
    // Beside the source there is no built thread.
    const instance = createInstanceIdentity({ channel: 'test', version: '1.0.0' })
    const broken = new SourceAdmission({ registryRoot: scratch.registryRoot, instance })
    await expect(broken.acquire(agent, { blockId: 'block' })).rejects.toMatchObject({
      name: 'AdmissionFault',
      code: 'watchdog-failed'
    })
    expect(scratch.lease('agent')).toBeUndefined()
    expect(broken.held.size).toBe(0)
    await broken.close()
  })
})

describe('a mistake of the caller', () => {
  it.each([
    ['no UID', { uid: '' }, { blockId: 'block' }, RangeError],
    ['a path', { uid: '../agent' }, { blockId: 'block' }, RangeError],
    ['no block', agent, { blockId: '' }, RangeError],
    ['a block that is no string', agent, { blockId: 7 as unknown as string }, TypeError],
    ['an epoch that is none', agent, { blockId: 'block', epochFloor: Number.NaN }, RangeError]
  ])('is an error at once, and nothing is touched: %s', async (_, who, options, error) => {
    await expect(admission.acquire(who, options)).rejects.toThrow(error)
    expect(scratch.lease('agent')).toBeUndefined()
  })

  it('is an error at once: options that cannot be', () => {
    expect(() => admissionOf(scratch, { ttlMs: 0 })).toThrow(RangeError)
    expect(() => admissionOf(scratch, { previousGraceMs: -1 })).toThrow(RangeError)
  })
})

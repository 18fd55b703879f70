import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import type { HeldAgentLease, HostAdmission } from '@agentmux/host-admission'
import type { ManualClock } from '@agentmux/lease-model/testing'
import { isAdmissionRefusal, type Refusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { admissionOf, driven, manualClock } from './fixture/admission.js'
import { carrying, eventually, runs } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'

const agent = { uid: 'agent', name: 'Agent3' }
let scratch: Scratch
let clock: ManualClock
let admission: HostAdmission
let lease: HeldAgentLease
let losses: Refusal[]
let faults: unknown[]

beforeEach(async () => {
  scratch = new Scratch()
  clock = manualClock()
  losses = []
  faults = []
  admission = admissionOf(scratch, { clock, onFault: (_, fault) => faults.push(fault) })
  lease = await acquire()
})
afterEach(async () => {
  await driven(clock, admission.close({ graceMs: 0 }), 50)
  scratch.dispose([lease.claimId])
})

async function acquire(): Promise<HeldAgentLease> {
  const result = await driven(
    clock,
    admission.acquire(agent, { blockId: 'block', onLost: (refusal) => losses.push(refusal) })
  )
  if (result.kind !== 'granted') throw new Error(result.refusal.message)
  return result.lease
}

const renewedMs = () => Number(scratch.lease('agent')?.renewed_boot_ms)
/** The file system says no to every call, until `mend`. */
const spoil = () => {
  renameSync(lock(), `${lock()}-away`)
  mkdirSync(lock())
}
const mend = () => {
  rmdirSync(lock())
  renameSync(`${lock()}-away`, lock())
}
const lock = () => `${scratch.leases}/agent.lock`

/** Somebody else's lease in the place of ours. */
function taken() {
  scratch.forge('agent', { claim_id: 'theirs', epoch: lease.epoch + 1, channel: 'other' })
}

function sleeper(): ChildProcess {
  const child = spawn('sleep', ['600'], { detached: true, env: { ...process.env, ...lease.environment } })
  child.once('exit', () => lease.driverExited())
  return child
}

/** Keeps the key's lock as another process would; resolves with how to give it back. */
async function lockedBySomebody(): Promise<() => void> {
  const locker = scratch.spawn('flock', [lock(), 'sh', '-c', 'echo locked; cat'])
  await new Promise((resolve) => locker.stdout?.once('data', resolve))
  return () => locker.stdin?.end()
}

describe('while it is held', () => {
  it('renews in the file, ten thousand times, with one timer', async () => {
    const resources = process.getActiveResourcesInfo().length
    for (let round = 0; round < 10_000; round++) await clock.advance(5_000)
    expect(clock.bootMs() - renewedMs()).toBeLessThanOrEqual(5_000)
    expect(clock.pendingTimers).toBe(1)
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(resources + 2)
    expect(losses).toEqual([])
    expect(scratch.lease('agent')).toMatchObject({ epoch: lease.epoch, claim_id: lease.claimId })
  })

  it('survives two failed renewals: an I/O fault is no loss', async () => {
    spoil()
    await clock.advance(5_000)
    const failed = faults.length
    expect(failed).toBeGreaterThanOrEqual(1)
    await clock.advance(5_000)
    expect(faults.length).toBeGreaterThanOrEqual(failed + 1)
    expect(losses).toEqual([])
    mend()
    await clock.advance(1_000)
    expect(clock.bootMs() - renewedMs()).toBeLessThanOrEqual(1_000)
    expect(await lease.verify()).toEqual({ kind: 'held' })
  })

  it('goes on renewing when whoever is told of a fault throws', async () => {
    const warned = new Promise((resolve) => process.once('warning', resolve))
    await driven(clock, admission.close())
    admission = admissionOf(scratch, {
      clock,
      onFault: () => {
        throw new Error('the log is full')
      }
    })
    lease = await acquire()
    spoil()
    await clock.advance(5_000)
    expect(await warned).toMatchObject({ message: 'the log is full' })
    mend()
    await clock.advance(1_000)
    expect(clock.bootMs() - renewedMs()).toBeLessThanOrEqual(1_000)
  })

  it('is not lost by looking when the file cannot be read: that is thrown', async () => {
    spoil()
    await expect(lease.verify()).rejects.toMatchObject({ name: 'LeaseFault', code: 'io' })
    expect(lease.loss).toBeUndefined()
    mend()
    expect(await lease.verify()).toEqual({ kind: 'held' })
  })
})

describe('a loss', () => {
  it('is found by the next renewal, told once, and repeated by every later check', async () => {
    taken()
    await clock.advance(5_000)
    expect(losses).toHaveLength(1)
    const [refusal] = losses
    expect(refusal).toMatchObject({ kind: 'lost', reason: 'other-owner', exitCode: 76 })
    expect(isAdmissionRefusal(refusal?.message ?? '')).toBe(true)
    rmSync(scratch.leaseFile('agent'))
    expect(await lease.verify()).toEqual({ kind: 'lost', refusal })
    expect(lease.held).toBe(false)
    expect(lease.lostSignal.reason).toBe(refusal)
    await driven(clock, lease.fenced())
    await clock.advance(60_000)
    expect(losses).toHaveLength(1)
    expect(clock.pendingTimers).toBe(0)
    expect(admission.held.size).toBe(0)
  })

  it('is found by a check before a turn (R4), and then nothing is started', async () => {
    taken()
    expect(await lease.verify()).toMatchObject({ kind: 'lost', refusal: { reason: 'other-owner' } })
    const result = await lease.start(
      () => {
        throw new Error('started')
      },
      { ownGroup: true }
    )
    expect(result).toMatchObject({ kind: 'lost', refusal: { reason: 'other-owner' } })
    expect(losses).toHaveLength(1)
  })

  it('is found by the start itself, under the lock, and then nothing is started', async () => {
    taken()
    const result = await lease.start(
      () => {
        throw new Error('started')
      },
      { ownGroup: true }
    )
    expect(result.kind).toBe('lost')
  })

  it('ends everything that carries the claim, and release leaves the new lease alone', async () => {
    const started = await lease.start(sleeper, { ownGroup: true })
    const pid = started.kind === 'started' ? Number(started.child.pid) : 0
    taken()
    await clock.advance(5_000)
    expect(await driven(clock, lease.fenced())).toMatchObject({ kind: 'ended' })
    expect(runs(pid)).toBe(false)
    expect(await driven(clock, lease.release())).toEqual({ kind: 'not-held' })
    expect(scratch.lease('agent')).toMatchObject({ claim_id: 'theirs' })
  })

  it('is told even if the listener throws, and the processes are ended all the same', async () => {
    await driven(clock, lease.release())
    const result = await driven(
      clock,
      admission.acquire(agent, {
        blockId: 'block',
        onLost: () => {
          throw new Error('of the listener')
        }
      })
    )
    if (result.kind !== 'granted') throw new Error('not granted')
    lease = result.lease
    const started = await lease.start(sleeper, { ownGroup: true })
    const pid = started.kind === 'started' ? Number(started.child.pid) : 0
    taken()
    expect(await lease.verify()).toMatchObject({ kind: 'lost' })
    await driven(clock, lease.fenced())
    expect(runs(pid)).toBe(false)
    expect(faults).toContainEqual(new Error('of the listener'))
  })
})

describe('the start of a child', () => {
  it('passes the mark on, and the file says who drives', async () => {
    const started = await lease.start(sleeper, { ownGroup: true })
    const pid = started.kind === 'started' ? Number(started.child.pid) : 0
    await eventually('it carries the mark', () => carrying(lease.claimId).includes(pid))
    await clock.advance(0)
    expect(scratch.lease('agent')).toMatchObject({ driver_pid: pid })
    expect(scratch.lease('agent')?.driver_start_ticks).toBeGreaterThan(0)

    process.kill(pid, 'SIGKILL')
    await eventually('it has exited', () => !runs(pid))
    await clock.advance(10_000)
    expect(scratch.lease('agent')).toMatchObject({ driver_pid: 0, driver_start_ticks: 0 })
  })

  it('renews first when others may judge the lease expired: they may have looked for its processes already', async () => {
    // Nothing ran for longer than the TTL, and the timer has not fired yet.
    clock.suspend(20_000)
    expect(clock.bootMs() - renewedMs()).toBeGreaterThan(15_000)
    let age = Number.POSITIVE_INFINITY
    const result = await lease.start(
      () => {
        age = clock.bootMs() - renewedMs()
        return { pid: undefined }
      },
      { ownGroup: true }
    )
    expect(result.kind).toBe('started')
    expect(age).toBeLessThan(1_000)
  })

  it('leaves the lease held and nothing else when it throws', async () => {
    const start = lease.start(
      () => {
        throw new Error('no such file')
      },
      { ownGroup: true }
    )
    await expect(start).rejects.toThrow('no such file')
    expect(await lease.verify()).toEqual({ kind: 'held' })
  })

  it('is refused once the lease is being given up, and after that', async () => {
    const started = await lease.start(sleeper, { ownGroup: true })
    const pid = started.kind === 'started' ? Number(started.child.pid) : 0
    const giveBack = await lockedBySomebody()
    // It waits for the lock, and finds that the lease is being given up when it has it.
    let spawned = false
    const late = lease.start(
      () => {
        spawned = true
        return { pid: undefined }
      },
      { ownGroup: true }
    )
    const releasing = lease.release()
    giveBack()
    expect(await driven(clock, late)).toMatchObject({ kind: 'lost' })
    expect(await driven(clock, releasing)).toEqual({ kind: 'released' })
    expect(runs(pid)).toBe(false)
    expect(await lease.start(sleeper, { ownGroup: true })).toMatchObject({ kind: 'lost' })
    expect(spawned).toBe(false)
    expect(losses).toEqual([])
  })
})

describe('a release', () => {
  it('removes the lease once, and no check says held any more', async () => {
    expect(await driven(clock, lease.release())).toEqual({ kind: 'released' })
    expect(scratch.lease('agent')).toBeUndefined()
    expect(await lease.verify()).toMatchObject({ kind: 'lost' })
    expect(lease.loss).toBeUndefined()
    expect(await lease.release()).toEqual({ kind: 'released' })
    expect(clock.pendingTimers).toBe(0)
    expect(losses).toEqual([])
  })

  it('keeps the lease until the last process of the claim has exited', async () => {
    const started = await lease.start(
      () =>
        spawn('sh', ['-c', 'trap "" TERM; setsid sh -c "trap \\"\\" TERM; sleep 600" & sleep 600'], {
          detached: true,
          stdio: 'ignore',
          env: { ...process.env, ...lease.environment }
        }),
      { ownGroup: true }
    )
    expect(started.kind).toBe('started')
    await eventually('both have started', () => carrying(lease.claimId).length >= 4)
    const releasing = lease.release({ graceMs: 3_000 })
    for (let step = 0; step < 50; step++) {
      await clock.advance(50)
      expect(scratch.lease('agent')).toMatchObject({ claim_id: lease.claimId })
    }
    expect(carrying(lease.claimId).length).toBeGreaterThan(0)
    expect(await lease.verify()).toEqual({ kind: 'held' })
    expect(await driven(clock, releasing)).toEqual({ kind: 'released' })
    expect(carrying(lease.claimId)).toEqual([])
  })

  it('does not let a renewal that is under way bring the lease back, or set a timer', async () => {
    const giveBack = await lockedBySomebody()
    await clock.advance(5_000)
    const releasing = lease.release()
    await clock.advance(5)
    giveBack()
    expect(await driven(clock, releasing)).toEqual({ kind: 'released' })
    await clock.advance(60_000)
    expect(scratch.lease('agent')).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })

  it('that failed can be tried again', async () => {
    spoil()
    await expect(driven(clock, lease.release())).rejects.toMatchObject({ name: 'LeaseFault' })
    mend()
    expect(await driven(clock, lease.release())).toEqual({ kind: 'released' })
    expect(scratch.lease('agent')).toBeUndefined()
  })

  it('refuses a grace that is none', async () => {
    await expect(lease.release({ graceMs: -1 })).rejects.toThrow(RangeError)
    await expect(lease.release({ graceMs: Number.NaN })).rejects.toThrow(RangeError)
    expect(await lease.verify()).toEqual({ kind: 'held' })
  })

  it('comes with the end of the scope', async () => {
    async function scope() {
      await using scoped = lease
      expect(await scoped.verify()).toEqual({ kind: 'held' })
    }
    await driven(clock, scope())
    expect(scratch.lease('agent')).toBeUndefined()
  })
})

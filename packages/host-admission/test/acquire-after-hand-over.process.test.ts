/** What acquire does with a hold: nobody but the successor gets the agent, whenever the hold was placed. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { HostAdmission } from '@agentmux/host-admission'
import { createInstanceIdentity } from '@agentmux/lease-store'
import { isAdmissionRefusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { admissionOf } from './fixture/admission.js'
import { eventually, runs } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'
import { TestHolder } from './fixture/test-holder.js'

const agent = { uid: 'agent', name: 'Agent3' }
const nightly = { channel: 'nightly', version: '2.0.0' }
let scratch: Scratch
let claims: string[]
let admissions: HostAdmission[]

beforeEach(() => {
  scratch = new Scratch()
  claims = []
  admissions = []
})
afterEach(async () => {
  await Promise.all(admissions.map((admission) => admission.close({ graceMs: 0 })))
  scratch.dispose(claims)
})

function admission(identity = { channel: 'stable', version: '1.0.0' }, options = {}): HostAdmission {
  const one = admissionOf(scratch, { instance: createInstanceIdentity(identity), ...options })
  admissions.push(one)
  return one
}

function bytes(): Record<string, string> {
  const names = readdirSync(scratch.leases).sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(`${scratch.leases}/${name}`, 'latin1')]))
}

describe('an agent that was handed over', () => {
  it('is refused to all but its successor, and no byte changes', async () => {
    const [holder, restarted, successor] = [admission(), admission(), admission(nightly)]
    const first = await holder.acquire(agent, { blockId: 'pane' })
    if (first.kind !== 'granted') throw new Error(first.refusal.message)
    holder.holds.holdAfterHandover(agent.uid, nightly)
    await first.lease.release()
    const before = bytes()
    for (const one of [holder, restarted]) {
      const result = await one.acquire(agent, { blockId: 'pane' })
      expect(result).toMatchObject({
        kind: 'refused',
        refusal: { kind: 'taken-over', exitCode: 75, holder: { channel: 'nightly', version: '2.0.0' } }
      })
      expect(result.kind === 'refused' && isAdmissionRefusal(result.refusal.message)).toBe(true)
    }
    expect(bytes()).toEqual(before)
    const second = await successor.acquire(agent, { blockId: 'pane' })
    expect(second.kind === 'granted' && second.lease.epoch).toBe(first.lease.epoch + 1)
  })

  it('is nobody else’s either where it was never held: nothing is made but the hold', async () => {
    const taker = admission(nightly)
    taker.holds.reserve(agent.uid, nightly)
    expect((await admission().acquire(agent, { blockId: 'pane' })).kind).toBe('refused')
    expect(Object.keys(bytes())).toEqual(['agent.hold'])
  })

  it('keeps what runs in the pane that asks again: a hold ends nothing', async () => {
    const one = admission()
    const result = await one.acquire(agent, { blockId: 'pane' })
    if (result.kind !== 'granted') throw new Error(result.refusal.message)
    claims.push(result.lease.claimId)
    const placed = one.holds.holdAfterHandover(agent.uid, nightly)
    expect((await one.acquire(agent, { blockId: 'pane' })).kind).toBe('refused')
    expect(await result.lease.verify()).toEqual({ kind: 'held' })
    placed.withdraw()
    expect((await one.acquire(agent, { blockId: 'pane' })).kind).toBe('granted')
  })

  it('is refused with the advice that the admission was given', async () => {
    const one = admission(undefined, { advice: { actions: ['take-over'], program: 'amx' } })
    one.holds.holdAfterHandover(agent.uid, nightly)
    const result = await one.acquire(agent, { blockId: 'pane' })
    expect(result.kind === 'refused' && result.refusal.message).toContain('`amx take-over agent`')
  })
})

describe('a hold that has expired', () => {
  it('is gone after the next claim, and not before', async () => {
    admission(nightly).holds.reserve(agent.uid, nightly)
    const file = `${scratch.leases}/agent.hold`
    const hold = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...hold, until_boot_ms: 1 }))
    const one = admission()
    expect(one.holds.refusalFor(agent)).toBeUndefined()
    expect(existsSync(file)).toBe(true)
    expect((await one.acquire(agent, { blockId: 'pane' })).kind).toBe('granted')
    expect(existsSync(file)).toBe(false)
  })
})

describe('a hold that is placed while a claim is under way', () => {
  it('still counts: nothing is granted once it stands', async () => {
    const killed = await TestHolder.run(scratch)
    const before = await killed.acquire(agent.uid)
    claims.push(String(before.claimId))
    const told = scratch.path('told-to-end')
    // Does not end at SIGTERM: the claim that comes has to wait for it.
    const stubborn = `trap "echo > ${told}" TERM; while :; do sleep 0.1; done`
    const child = await killed.start(agent.uid, ['sh', '-c', stubborn])
    killed.signal('SIGKILL')
    await killed.until('its death', () => killed.exit)
    const lease = readFileSync(scratch.leaseFile(agent.uid))

    const contender = admission(undefined, { previousGraceMs: 1_500 })
    const claiming = contender.acquire(agent, { blockId: 'pane' })
    await eventually('it was told to end', () => existsSync(told))
    admission(nightly).holds.reserve(agent.uid, nightly)
    expect(await claiming).toMatchObject({ kind: 'refused', refusal: { kind: 'taken-over' } })
    expect(runs(child)).toBe(false)
    expect(readFileSync(scratch.leaseFile(agent.uid))).toEqual(lease)
    expect((await admission(nightly).acquire(agent, { blockId: 'pane' })).kind).toBe('granted')
  })
})

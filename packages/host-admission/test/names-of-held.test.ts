/** The index of names that an admission keeps in step with what it holds, and fencing for a reason that others know. */
import type { HostAdmission } from '@agentmux/host-admission'
import { heldRefusal, lostRefusal, type Refusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { admissionOf } from './fixture/admission.js'
import { Scratch } from './fixture/scratch.js'

const agent = { uid: 'agent', name: 'Agent3' }
const elsewhere = {
  place: 'relay' as const,
  hostname: 'laptop',
  channel: 'dev',
  version: '2.0.0',
  pid: 0,
  acquiredAtMs: 0,
  epoch: 0,
  blockId: ''
}
const refusal = heldRefusal(agent, elsewhere, Date.now())
let scratch: Scratch
let admission: HostAdmission
let losses: Refusal[]

beforeEach(() => {
  scratch = new Scratch()
  losses = []
  admission = admissionOf(scratch)
})
afterEach(async () => {
  await admission.close({ graceMs: 0 })
  scratch.dispose()
})

async function acquired(who = agent, blockId = 'pane') {
  const onLost = (lost: Refusal) => losses.push(lost)
  const result = await admission.acquire(who, { blockId, onLost })
  if (result.kind !== 'granted') throw new Error(result.refusal.message)
  return result.lease
}

describe('a lease that is fenced by its name', () => {
  it('is lost for that reason, told once, and verified no more', async () => {
    const lease = await acquired()
    expect(admission.names.fenceAgentNamed(' AGENT3 ', refusal)).toBe(true)
    expect(lease.loss).toEqual(refusal)
    expect(losses).toEqual([refusal])
    expect(lease.lostSignal.reason).toEqual(refusal)
    expect(await lease.verify()).toEqual({ kind: 'lost', refusal })
    await lease.fenced()
    expect(admission.held.size).toBe(0)
    // It was ours to give back: nobody has claimed it.
    expect(await lease.release()).toEqual({ kind: 'not-held' })
    expect(scratch.lease(agent.uid)).toBeUndefined()
  })

  it('is not found any more once it is released, or lost and ended', async () => {
    const lease = await acquired()
    await lease.release()
    expect(admission.names.fenceAgentNamed('agent3', refusal)).toBe(false)
    const again = await acquired()
    again.fence()
    await again.fenced()
    expect(admission.names.fenceAgentNamed('agent3', refusal)).toBe(false)
  })

  it('is the newest of its name, and the end of an older one does not hide it', async () => {
    const older = await acquired()
    const newer = await acquired({ uid: 'other-agent', name: 'agent3' })
    await older.release()
    expect(admission.names.fenceAgentNamed('Agent3', refusal)).toBe(true)
    expect(newer.loss).toEqual(refusal)
    expect(older.loss).toBeUndefined()
  })

  it('is the one that was claimed anew, not the handle before', async () => {
    await acquired()
    const newer = await acquired()
    admission.names.fenceAgentNamed('Agent3', refusal)
    expect(newer.loss).toEqual(refusal)
  })
})

describe('a fence', () => {
  it('keeps the first reason', async () => {
    const lease = await acquired()
    lease.fence(refusal)
    lease.fence(lostRefusal(agent, 'unconfirmed', Date.now()))
    expect(lease.loss).toEqual(refusal)
    expect(losses).toEqual([refusal])
  })

  it('without a reason says that the lease could not be confirmed', async () => {
    const lease = await acquired()
    lease.fence()
    expect(lease.loss).toMatchObject({ kind: 'lost', reason: 'unconfirmed' })
  })

  it('after a release says nothing', async () => {
    const lease = await acquired()
    await lease.release()
    lease.fence(refusal)
    expect(lease.loss).toBeUndefined()
    expect(losses).toEqual([])
  })
})

/** What acquire owes to the shared record: above its highest epoch (R10), and known to it before the lease is handed out. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type HostAdmission, RecordFence, SharedRecord } from '@agentmux/host-admission'
import { createSystemClock } from '@agentmux/lease-model'
import { LARGEST_EPOCH } from '@agentmux/lease-store'
import { lostRefusal } from '@agentmux/refusals'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { admissionOf } from './fixture/admission.js'
import { eventually, runs } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'
import { TestHolder } from './fixture/test-holder.js'

const agent = { uid: 'agent', name: 'Agent3' }
const lost = lostRefusal(agent, 'unconfirmed', 0)
const event = (text: string) => ({ kind: 'turn', text }) as const
let scratch: Scratch
let record: SharedRecord
let admission: HostAdmission
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  record = new SharedRecord(scratch.folder)
  admission = admissionOf(scratch, { record: new SharedRecord(scratch.folder) })
  claims = []
})
afterEach(async () => {
  await admission.close({ graceMs: 0 })
  scratch.dispose(claims)
})

const acquire = (options = {}) => admission.acquire(agent, { blockId: 'pane', ...options })

async function granted(options = {}) {
  const result = await acquire(options)
  if (result.kind !== 'granted') throw new Error(result.refusal.message)
  return result.lease
}

describe('a claim', () => {
  it('is above the highest epoch in the record, whatever the counter says', async () => {
    await record.append(agent.uid, { events: [event('one')], epoch: 41 })
    expect((await granted()).epoch).toBe(42)
  })

  it('is above what the caller knows as well', async () => {
    await record.append(agent.uid, { events: [event('one')], epoch: 41 })
    expect((await granted({ epochFloor: 99 })).epoch).toBe(100)
  })

  it('is known to the record before anything is written under it: the epoch before is turned away at once', async () => {
    await record.append(agent.uid, { events: [event('in time')], epoch: 41 })
    expect((await granted()).epoch).toBe(42)
    const late = await record.append(agent.uid, { events: [event('late')], epoch: 41 })
    expect(late).toEqual({ kind: 'rejected', highestEpoch: 42 })
    expect((await record.read(agent.uid)).items).toHaveLength(1)
  })

  it('turns away the late output of the holder before, who still believes in its lease', async () => {
    const older = await granted()
    const fence = new RecordFence(
      { agent, epoch: older.epoch, held: true, verify: async () => ({ kind: 'held' }) },
      { record, clock: createSystemClock(), ttlMs: 15_000 }
    )
    expect((await fence.append([event('in time')])).kind).toBe('appended')
    await older.release()
    const newer = await granted()
    expect(newer.epoch).toBe(older.epoch + 1)
    expect(await fence.append([event('late')])).toEqual({ kind: 'rejected', highestEpoch: newer.epoch })
    expect((await record.read(agent.uid)).items).toMatchObject([{ event: { text: 'in time' } }])
  })

  it.each([
    ['lease', LARGEST_EPOCH + 1],
    ['counter', LARGEST_EPOCH + 1],
    ['counter', LARGEST_EPOCH + 2]
  ])(
    'after damage to the %s that says %i is granted, and so is the next: no agent is lost to it',
    async (file, epoch) => {
      if (file === 'lease') scratch.forge(agent.uid, { epoch, claim_id: '' })
      else {
        await (await granted()).release()
        writeFileSync(join(scratch.leases, `${agent.uid}.epoch`), `${epoch}\n`)
      }
      const first = await granted()
      expect(first.epoch).toBeGreaterThan(Math.floor(Date.now() / 1_000) - 60)
      await first.release()
      expect((await granted()).epoch).toBe(first.epoch + 1)
    }
  )

  it('after a lease that says 2^53-2 is granted under the last epoch, and the next is refused, naming the record', async () => {
    scratch.forge(agent.uid, { epoch: LARGEST_EPOCH, claim_id: '' })
    const last = await granted()
    expect(last.epoch).toBe(2 ** 53 - 1)
    await last.release()
    const next = await acquire()
    expect(next.kind === 'unknown' && next.refusal.message).toContain(record.pathOf(agent.uid))
  })

  it('that the record leaves no epoch for is refused, naming the record', async () => {
    await record.append(agent.uid, { events: [], epoch: LARGEST_EPOCH + 1 })
    const result = await acquire()
    expect(result).toMatchObject({ kind: 'unknown', refusal: { kind: 'io', exitCode: 69 } })
    expect(result.kind === 'unknown' && result.refusal.message).toContain('move that folder away')
    renameSync(record.pathOf(agent.uid), scratch.path('away'))
    expect((await granted()).epoch).toBe(1)
  })

  it('that is refused leaves no record', async () => {
    const other = await TestHolder.run(scratch)
    await other.acquire(agent.uid)
    expect((await acquire()).kind).toBe('refused')
    expect(existsSync(record.pathOf(agent.uid))).toBe(false)
  })
})

describe('a record that cannot be used', () => {
  it('because it is no record claims nothing, and the sentence names it', async () => {
    const folder = record.pathOf(agent.uid)
    mkdirSync(dirname(folder), { recursive: true })
    writeFileSync(folder, 'not a folder')
    const result = await acquire()
    expect(result).toMatchObject({ kind: 'unknown', refusal: { kind: 'io', exitCode: 69 } })
    expect(result.kind === 'unknown' && result.refusal.message).toContain(folder)
    expect(existsSync(scratch.leases)).toBe(false)
    rmSync(folder)
    expect((await acquire()).kind).toBe('granted')
  })

  it('because it cannot be written gives the lease back: nobody is kept out', async () => {
    const inTheWay = join(record.pathOf(agent.uid), 'epoch.tmp', 'something')
    mkdirSync(inTheWay, { recursive: true })
    expect(await acquire()).toMatchObject({ kind: 'unknown', refusal: { kind: 'io', exitCode: 69 } })
    expect(readFileSync(join(scratch.leases, `${agent.uid}.epoch`), 'utf8')).toBe('1\n')
    expect(scratch.lease(agent.uid)).toBeUndefined()
    expect(admission.held.size).toBe(0)
    expect(admission.names.fenceAgentNamed('Agent3', lost)).toBe(false)
  })

  it('has a later epoch by the time of the grant: we are not the last, and the lease is given back', async () => {
    const killed = await TestHolder.run(scratch)
    const { claimId, epoch } = await killed.acquire(agent.uid)
    claims.push(String(claimId))
    const told = scratch.path('told-to-end')
    const stubborn = `trap "echo > ${told}" TERM; while :; do sleep 0.1; done`
    const child = await killed.start(agent.uid, ['sh', '-c', stubborn])
    killed.signal('SIGKILL')
    await killed.until('its death', () => killed.exit)
    const acquiring = acquire()
    await eventually('its floor is read, and it ends what is left', () => existsSync(told))
    await record.append(agent.uid, { events: [event('later')], epoch: Number(epoch) + 7 })
    expect(await acquiring).toMatchObject({ kind: 'refused', refusal: { kind: 'lost' } })
    expect(runs(child)).toBe(false)
    expect(scratch.lease(agent.uid)).toBeUndefined()
    expect((await granted()).epoch).toBe(Number(epoch) + 8)
  })
})

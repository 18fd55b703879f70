/** A day of holding agents, on a clock that only the test moves, with real files: nothing may pile up. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type HeldAgentLease,
  type HostAdmission,
  ReactiveRegistry,
  RecordFence,
  SharedRecord
} from '@agentmux/host-admission'
import { leaseTimings } from '@agentmux/lease-model'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { admissionOf, driven, manualClock } from './fixture/admission.js'
import { processHoldings, usedBytes } from './fixture/holdings-of-process.js'
import { eventually } from './fixture/running.js'
import { Scratch } from './fixture/scratch.js'

const HOUR_MS = 3_600_000
const UIDS = ['ada', 'grace', 'edsger']
const { ttlMs, renewIntervalMs } = leaseTimings()
/** Whatever a renewal could leave behind, a listener or a closure, is more than this; what the heap differs by anyway, less. */
const BYTES_PER_RENEWAL = 16

const clock = manualClock()
let scratch: Scratch
let admission: HostAdmission
let record: SharedRecord
let registry: ReactiveRegistry
let leases: HeldAgentLease[]
let fences: RecordFence[]
let losses: number
let faults: unknown[]

beforeEach(async () => {
  scratch = new Scratch()
  losses = 0
  faults = []
  const onFault = (fault: unknown) => faults.push(fault)
  record = new SharedRecord(scratch.folder, { clock })
  admission = admissionOf(scratch, { clock, record, onFault: (_, fault) => onFault(fault) })
  registry = new ReactiveRegistry(scratch.folder, { clock, host: admission.store.host, onFault })
  leases = []
  for (const uid of UIDS) leases.push(await acquired(uid))
  fences = leases.map((lease) => new RecordFence(lease, { record, clock, ttlMs }))
  const server = { channel: 'test', localUrl: 'http://127.0.0.1:4711', authKey: 'our-key' }
  for (const { agent, blockId } of leases) registry.register(server, { agentName: agent.uid, blockId })
})

afterEach(async () => {
  registry.close()
  await driven(clock, admission.close())
  scratch.dispose()
})

async function acquired(uid: string): Promise<HeldAgentLease> {
  const onLost = () => {
    losses += 1
  }
  const result = await admission.acquire({ uid }, { blockId: `block of ${uid}`, onLost })
  if (result.kind !== 'granted') throw new Error(JSON.stringify(result))
  return result.lease
}

/** The bytes of the leases say when they were renewed last, so they are not compared. */
function files(): string[] {
  return readdirSync(scratch.folder, { recursive: true, encoding: 'utf8' }).sort()
}

/** What an agent does from time to time: its lease is asked for, and its record written. */
async function oneTurnEach(): Promise<void> {
  for (const [index, lease] of leases.entries()) {
    expect(await lease.verify()).toEqual({ kind: 'held' })
    expect(await fences[index]?.append([{ kind: 'turn', text: 'one' }])).toMatchObject({ kind: 'appended' })
  }
}

const held = () => ({
  timers: clock.pendingTimers,
  process: processHoldings(),
  leases: admission.held.size,
  files: files()
})

describe('holding agents for a day', () => {
  test('leaves no timer, watch, handle, memory or file behind, and loses nothing', async () => {
    // The first hours have the code compiled and what is remembered filled.
    for (let hour = 0; hour < 4; hour++) {
      await clock.advance(HOUR_MS)
      await oneTurnEach()
    }
    const before = held()
    const bytesBefore = usedBytes()
    expect(before.timers).toBe(UIDS.length + 1)

    for (let hour = 4; hour < 24; hour++) {
      await clock.advance(HOUR_MS)
      await oneTurnEach()
      expect(held()).toEqual(before)
    }

    const renewals = (20 * HOUR_MS * UIDS.length) / renewIntervalMs
    expect((usedBytes() - bytesBefore) / renewals).toBeLessThan(BYTES_PER_RENEWAL)
    expect({ losses, faults }).toEqual({ losses: 0, faults: [] })
    for (const { agent, epoch } of leases) {
      const onDisk = scratch.lease(agent.uid)
      expect(onDisk).toMatchObject({ epoch, owner_boot_id: admission.store.instance.ownerBootId })
      expect(clock.wallMs() - Number(onDisk?.renewed_at_ms)).toBeLessThanOrEqual(renewIntervalMs)
      const entry = join(scratch.folder, 'agents', 'reactive', agent.uid, 'test.json')
      expect(clock.wallMs() - JSON.parse(readFileSync(entry, 'utf8')).updated_at).toBeLessThanOrEqual(20_000)
    }
  })

  test('while others wait for an agent and follow its record for an hour', async () => {
    const done = new AbortController()
    const { store } = admissionOf(scratch, { clock })
    const waiting = store.waitForRelease('ada', { signal: done.signal })
    const seen: string[] = []
    const following = (async () => {
      for await (const item of record.follow('ada', { signal: done.signal })) seen.push(item.kind)
    })()
    // The follower reads with real I/O, so the clock may have moved on while it did; then it waits again.
    const waitingAgain = async () => {
      await eventually('all wait', () => clock.pendingTimers === UIDS.length + 3)
      return held()
    }
    await clock.advance(60_000)
    await oneTurnEach()
    await clock.advance(60_000)
    const before = await waitingAgain()
    for (let minute = 2; minute < 60; minute++) {
      await clock.advance(60_000)
      expect(await waitingAgain()).toEqual(before)
    }
    done.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await following
    expect(seen.length).toBeGreaterThan(0)
    expect(clock.pendingTimers).toBe(UIDS.length + 1)
    expect(processHoldings().watches).toBe(0)
  })
})

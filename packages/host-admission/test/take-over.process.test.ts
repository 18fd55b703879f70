import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Audit, agentLines, turnsOf } from './fixture/audit.js'
import { carrying, eventually, runs, signalAll, stateOf } from './fixture/running.js'
import { fixture, Scratch } from './fixture/scratch.js'
import { TestHolder } from './fixture/test-holder.js'

const UID = 'agent-1'
let scratch: Scratch
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  claims = []
})
afterEach(() => scratch.dispose(claims))

async function holderOf(options = {}): Promise<TestHolder> {
  return TestHolder.run(scratch, options)
}

async function acquired(holder: TestHolder, request = {}) {
  const told = await holder.acquire(UID, request)
  const claimId = String(told.claimId)
  claims.push(claimId)
  return { kind: told.kind, epoch: told.epoch, claimId }
}

/** A shim with a native child and a grandchild in a session of its own; resolves when all three append. */
async function startAgent(holder: TestHolder, claimId: string, log: string, environment: string[] = []) {
  const shim = await holder.start(UID, ['env', ...environment, 'sh', fixture('agent.sh'), log, 'shim'])
  const roles = ['shim', 'native', 'grandchild']
  await eventually('the agent and its children run', () =>
    roles.every((role) => agentLines(log).some((line) => line.claimId === claimId && line.role === role))
  )
  return shim
}

describe('a holder that was killed', () => {
  it.each([
    ['ends in order', []],
    ['ignores SIGTERM', ['STUBBORN=1']]
  ])('gives way at once, and first all its processes end: the agent %s', async (_, environment) => {
    const log = scratch.path('agent.log')
    const audit = await Audit.of(scratch, UID)
    // No contender waits for this.
    const ttlMs = 600_000
    const first = await holderOf({ ttlMs })
    const before = await acquired(first)
    await startAgent(first, before.claimId, log, environment)
    const old = carrying(before.claimId)
    expect(old.length).toBeGreaterThanOrEqual(3)

    first.signal('SIGKILL')
    await first.until('its death', () => first.exit)
    expect(carrying(before.claimId).length).toBeGreaterThanOrEqual(3)

    const second = await holderOf({ ttlMs })
    const after = await acquired(second)
    expect(after).toMatchObject({ kind: 'granted', epoch: Number(before.epoch) + 1 })
    expect(carrying(before.claimId)).toEqual([])
    await startAgent(second, after.claimId, log, environment)

    const seen = await audit.finish()
    expect(seen.claims).toEqual([before.claimId, after.claimId])
    expect(seen.overlaps).toEqual([])
    expect(turnsOf(agentLines(log))).toEqual([before.claimId, after.claimId])
  })

  it('gives way to one of many, and the audit sees one claim at a time', async () => {
    const log = scratch.path('agent.log')
    const audit = await Audit.of(scratch, UID)
    const first = await holderOf()
    const before = await acquired(first)
    await startAgent(first, before.claimId, log)
    const contenders = await Promise.all([holderOf(), holderOf(), holderOf()])
    first.signal('SIGKILL')
    await first.until('its death', () => first.exit)

    const answers = await Promise.all(contenders.map((contender) => contender.acquire(UID)))
    claims.push(...answers.map(({ claimId }) => String(claimId)))
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['granted', 'refused', 'refused'])
    const winner = answers.findIndex(({ kind }) => kind === 'granted')
    await startAgent(contenders[winner] as TestHolder, String(answers[winner]?.claimId), log)

    expect((await audit.finish()).overlaps).toEqual([])
    expect(turnsOf(agentLines(log))).toHaveLength(2)
  })
})

describe('a holder that was stopped together with its child, for longer than the TTL', () => {
  const ttlMs = 9_000

  async function stopped() {
    const log = scratch.path('agent.log')
    const holder = await holderOf({ ttlMs })
    const { claimId, epoch } = await acquired(holder)
    await startAgent(holder, claimId, log)
    await eventually('all are stopped, those too that were born meanwhile', () => {
      const pids = [holder.pid, ...carrying(claimId)]
      signalAll(pids, 'SIGSTOP')
      // A parent that waits for the exec of its stopped child (vfork) is in D, and stops once it goes on.
      return pids.every((pid) => ['T', 'D'].includes(stateOf(pid) ?? ''))
    })
    return { holder, claimId, epoch, log }
  }

  it('goes on where nobody claimed: same epoch, child alive, no loss', async () => {
    const { holder, claimId, epoch } = await stopped()
    const before = carrying(claimId)
    await pause(ttlMs + 1_500)
    const renewed = scratch.lease(UID)?.renewed_boot_ms

    // The child first: whatever the holder does on waking up, it would see it.
    signalAll([...before, holder.pid], 'SIGCONT')
    await eventually('it renews', () => scratch.lease(UID)?.renewed_boot_ms !== renewed)
    holder.send('verify', { uid: UID })
    expect(await holder.next('verified')).toMatchObject({ kind: 'held' })
    expect(scratch.lease(UID)).toMatchObject({ epoch, claim_id: claimId })
    expect(runs(Number(holder.all('started')[0]?.pid))).toBe(true)
    expect(holder.all('lost')).toEqual([])
  })

  it('finds its processes ended and its lease taken where somebody claimed, and leaves the new lease alone', async () => {
    const audit = await Audit.of(scratch, UID)
    const { holder, claimId, epoch, log } = await stopped()
    const second = await holderOf({ ttlMs: 15_000 })
    let answer = await second.acquire(UID)
    while (answer.kind !== 'granted') {
      await pause(100)
      answer = await second.acquire(UID)
    }
    claims.push(String(answer.claimId))
    expect(answer.epoch).toBe(Number(epoch) + 1)
    expect(carrying(claimId)).toEqual([])
    await startAgent(second, String(answer.claimId), log)

    holder.signal('SIGCONT')
    const lost = await holder.next('lost')
    expect(lost.message).toContain('lost its single-instance lease')
    holder.send('release', { uid: UID })
    expect(await holder.next('released')).toMatchObject({ kind: 'not-held' })
    await holder.ended()
    expect(holder.all('lost')).toHaveLength(1)
    expect(scratch.lease(UID)).toMatchObject({ claim_id: answer.claimId })
    second.send('verify', { uid: UID })
    expect(await second.next('verified')).toMatchObject({ kind: 'held' })
    expect((await audit.finish()).overlaps).toEqual([])
    expect(turnsOf(agentLines(log))).toEqual([claimId, answer.claimId])
  })
})

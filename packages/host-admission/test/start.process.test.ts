import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { carrying, eventually, signalAll, stateOf } from './fixture/running.js'
import { fixture, Scratch } from './fixture/scratch.js'
import { TestHolder } from './fixture/test-holder.js'

const UID = 'agent'
let scratch: Scratch
let claims: string[]

beforeEach(() => {
  scratch = new Scratch()
  claims = []
})
afterEach(() => scratch.dispose(claims))

async function acquire(holder: TestHolder): Promise<{ kind: unknown; claimId: string; refusal: Refused }> {
  const { kind, claimId, refusal } = await holder.acquire(UID)
  if (claimId !== undefined) claims.push(String(claimId))
  return { kind, claimId: String(claimId), refusal: refusal as Refused }
}

interface Refused {
  readonly kind: string
  readonly message: string
}

describe('a holder that is stopped between the check of its lease and the start of its child', () => {
  it('keeps everybody out, by name, until it goes on: there is no second driver', async () => {
    const ttlMs = 3_000
    const holder = await TestHolder.run(scratch, { ttlMs })
    const { claimId } = await acquire(holder)
    const command = ['sh', fixture('agent.sh'), scratch.path('agent.log'), 'alone']
    holder.send('start', { uid: UID, command, stopBeforeSpawn: true })
    await eventually('it has stopped', () => stateOf(holder.pid) === 'T')

    const contender = await TestHolder.run(scratch, { ttlMs })
    let answer = await acquire(contender)
    // While its lease is fresh, that alone keeps others out.
    for (; answer.kind === 'refused'; answer = await acquire(contender)) {
      expect(answer.refusal).toMatchObject({ kind: 'held', holder: { pid: holder.pid } })
    }
    // Its lease has expired, and still nobody can take it.
    for (let attempt = 0; attempt < 2; attempt++, answer = await acquire(contender)) {
      const { kind, refusal } = answer
      expect(kind).toBe('unknown')
      expect(refusal.kind).toBe('io')
      expect(refusal.message).toContain(`pid ${holder.pid}`)
      expect(refusal.message).toContain('is locked')
      expect(refusal.message).toContain(
        `which is stopped. Nothing was started. Let it go on (\`kill -CONT ${holder.pid}\`)`
      )
    }

    signalAll([holder.pid], 'SIGCONT')
    await holder.next('started')
    const { kind } = await acquire(contender)
    // Whoever comes first: it renews and stays, or it is ended before the other is let in.
    if (kind === 'granted') expect(carrying(claimId)).toEqual([])
    else expect(scratch.lease(UID)?.claim_id).toBe(claimId)
  })
})

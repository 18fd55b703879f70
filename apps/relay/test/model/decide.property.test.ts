/** Every sequence of calls against a model in a few lines: one holder, epochs that only grow, the same answer to the same call. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentRecord } from '../../src/model/agent-record.js'
import { decideClaim, decideRelease, decideRenew, decideTake, withTake } from '../../src/model/decide.js'

const who = fc.constantFrom('a', 'b', 'c')
const step = fc.oneof(
  fc.record({ kind: fc.constant('claim' as const), who }),
  fc.record({ kind: fc.constant('renew' as const), who }),
  fc.record({ kind: fc.constant('release' as const), who }),
  fc.record({ kind: fc.constant('take' as const), who, key: fc.constantFrom('k1', 'k2', undefined) }),
  fc.record({ kind: fc.constant('lapse' as const), who })
)

const claimant = (install: string) => ({ instance: 'i', install, host: '', channel: '', version: '' })

test('one holder at a time, every change of it under a higher epoch, and a take by its key once', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let record: AgentRecord | undefined
      let live = false
      let highest = 0
      const granted = new Set<string>()
      for (const one of steps) {
        const by = claimant(one.who)
        const holder = live && record?.state === 'held' ? record.holder : undefined
        if (one.kind === 'lapse') {
          live = false
          continue
        }
        if (one.kind === 'release') {
          const ends = decideRelease({ record, live }, by)
          expect(ends).toBe(holder?.install === one.who)
          if (ends && record !== undefined) record = { ...record, state: 'released' }
          continue
        }
        const key = one.kind === 'take' ? one.key : undefined
        const decision =
          one.kind === 'claim'
            ? decideClaim({ record, live }, by)
            : one.kind === 'renew'
              ? decideRenew({ record, live }, by)
              : decideTake({ record, live }, by, key)
        if (decision.kind === 'keep')
          expect(holder).toMatchObject({ install: one.who, epoch: decision.epoch })
        if (decision.kind === 'refuse') expect(decision.heldBy).toEqual(holder)
        if (decision.kind !== 'grant') continue
        expect(decision.epoch).toBe(highest + 1)
        expect(one.kind === 'take' ? holder !== undefined : holder === undefined).toBe(true)
        if (key !== undefined) expect(record?.takes.includes(key)).not.toBe(true)
        if (key !== undefined) granted.add(key)
        highest = decision.epoch
        live = true
        record = {
          holder: { ...by, epoch: decision.epoch, acquiredAtMs: 0 },
          state: 'held',
          takes: withTake(record?.takes ?? [], key)
        }
      }
    })
  )
})

test('epochs that are used up are a fault, not a number that repeats', () => {
  const holder = { ...claimant('a'), epoch: Number.MAX_SAFE_INTEGER, acquiredAtMs: 0 }
  const record: AgentRecord = { holder, state: 'released', takes: [] }
  expect(() => decideClaim({ record, live: false }, claimant('b'))).toThrow(RangeError)
})

/** Any sequence of calls by several instances against a model of a few lines. */
import { rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Lease, LeaseStore } from '../src/index.js'
import { ELSEWHERE, Files, HERE, instance, party, request, TTL_MS, UID } from './harness/parties.js'

type Step =
  | { readonly kind: 'claim'; readonly who: number; readonly block: string; readonly floor: number }
  | { readonly kind: 'renew' | 'verify' | 'release'; readonly handle: number }
  | { readonly kind: 'pass' | 'suspend' | 'step'; readonly ms: number }
  | { readonly kind: 'look'; readonly who: number }
  | { readonly kind: 'lose-counter' }

const INSTANCES = 3
const who = fc.nat(INSTANCES - 1)
const passing = fc.constantFrom(1, 4_999, 5_000, TTL_MS - 1, TTL_MS, 40_000)
const stepping = fc.constantFrom(-30 * 365 * 86_400_000, -180_000, 180_000, 3_600_000, 365 * 86_400_000)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      who,
      block: fc.constantFrom('one', 'two'),
      floor: fc.constantFrom(0, 0, 0, 3, 50)
    })
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('renew' as const, 'verify', 'release'), handle: fc.nat(8) })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('pass' as const, 'suspend'), ms: passing }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('step' as const), ms: stepping }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const), who }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose-counter' as const }) }
)
const steps = fc.array(step, { minLength: 1, maxLength: 40 })

interface Held {
  who: number
  block: string
  claimId: string
  epoch: number
  renewedMs: number
}

/** Everything a lease is, in three variables. */
interface Model {
  held: Held | undefined
  highest: number
  /** Whether the counter is on the disk: then the next epoch is exactly the highest plus one. */
  counted: boolean
}

const expired = (held: Held, nowMs: number) => nowMs - held.renewedMs >= TTL_MS

describe('instances on one host', () => {
  it('get exactly what the model says, whatever they do and however the wall clock jumps', async () => {
    const { clock, root } = party()
    let runs = 0
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const folder = `${root}/${runs++}`
        const files = new Files(`${folder}/leases/${UID}`)
        const stores = Array.from({ length: INSTANCES }, () =>
          LeaseStore.open(folder, { clock, host: HERE, instance: instance() })
        )
        const handles: { who: number; lease: Lease }[] = []
        const model: Model = { held: undefined, highest: 0, counted: true }
        for (const one of sequence) await take(one)
        rmSync(folder, { recursive: true, force: true })

        async function take(one: Step): Promise<void> {
          const nowMs = clock.bootMs()
          if (one.kind === 'pass') return clock.advance(one.ms)
          if (one.kind === 'suspend') return clock.suspend(one.ms)
          if (one.kind === 'step') return clock.stepWall(one.ms)
          if (one.kind === 'lose-counter') {
            if (model.highest === 0) return
            writeFileSync(files.epoch, '')
            model.counted = false
            return
          }
          if (one.kind === 'look') {
            const found = store(one.who).liveHolderOtherThan(UID, '').kind
            expect(found).toBe(
              model.held === undefined ? 'free' : expired(model.held, nowMs) ? 'over' : 'held'
            )
            return
          }
          if (one.kind === 'claim') return claim(one, nowMs)
          if (!('handle' in one)) return
          const handle = handles[one.handle % Math.max(1, handles.length)]
          if (handle === undefined) return
          const mine = model.held?.claimId === handle.lease.claimId
          const { kind } = await store(handle.who)[one.kind](handle.lease)
          const good = { renew: 'renewed', verify: 'held', release: 'released' }[one.kind]
          const bad = { renew: 'lost', verify: 'lost', release: 'not-held' }[one.kind]
          expect(kind).toBe(mine ? good : bad)
          if (mine && one.kind === 'renew' && model.held !== undefined) model.held.renewedMs = nowMs
          if (mine && one.kind === 'release') model.held = undefined
        }

        async function claim({ who, block, floor }: Extract<Step, { kind: 'claim' }>, nowMs: number) {
          const result = await store(who).claim(request({ blockId: block, epochFloor: floor }))
          const { held } = model
          const again = held?.who === who && held.block === block
          if (held !== undefined && !again && !expired(held, nowMs)) {
            expect(result).toMatchObject({
              kind: 'refused',
              holder: { epoch: held.epoch, blockId: held.block }
            })
            return
          }
          if (result.kind !== 'granted') throw new Error(`it was ${result.kind}`)
          const { epoch, claimId } = result.lease
          if (held !== undefined && again && floor <= held.epoch) {
            expect(epoch).toBe(held.epoch)
            expect(claimId).not.toBe(held.claimId)
          } else {
            if (model.counted) expect(epoch).toBe(Math.max(model.highest, floor) + 1)
            else {
              // A lost counter and a wall clock set back together leave only the lease file to go by.
              if (held !== undefined) expect(epoch).toBeGreaterThan(Math.max(held.epoch, floor))
              model.highest = epoch
            }
            model.counted = true
          }
          model.highest = Math.max(model.highest, epoch)
          model.held = { who, block, claimId, epoch, renewedMs: nowMs }
          handles.unshift({ who, lease: result.lease })
        }

        function store(index: number): LeaseStore {
          const found = stores[index]
          if (found === undefined) throw new Error('no such store')
          return found
        }
      }),
      { numRuns: 150 }
    )
  })
})

describe('instances on two hosts, one of them with a wall clock of its own', () => {
  it('never hold together: a lease is only taken a whole TTL after its last renewal', async () => {
    const { clock, root } = party()
    let runs = 0
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const folder = `${root}/${runs++}`
        let aheadMs = 0
        const otherWall = { ...clock, bootMs: clock.bootMs, wallMs: () => clock.wallMs() + aheadMs }
        const stores = [0, 1, 2].map((index) =>
          index === 0
            ? LeaseStore.open(folder, { clock, host: HERE, instance: instance() })
            : LeaseStore.open(folder, { clock: otherWall, host: ELSEWHERE, instance: instance() })
        )
        let held: { who: number; lease: Lease; renewedMs: number } | undefined
        let highest = 0
        for (const one of sequence) {
          if (one.kind === 'pass') await clock.advance(one.ms)
          else if (one.kind === 'suspend') clock.suspend(one.ms)
          else if (one.kind === 'step') aheadMs += one.ms
          else if (one.kind === 'look') stores[one.who]?.liveHolderOtherThan(UID, '')
          else if (one.kind === 'claim') {
            const result = await stores[one.who]?.claim(request({ blockId: one.block }))
            if (result?.kind !== 'granted') continue
            const { lease } = result
            const again = held?.who === one.who && held.lease.blockId === one.block
            if (held !== undefined && !again) {
              expect(clock.bootMs() - held.renewedMs).toBeGreaterThanOrEqual(TTL_MS)
              expect(lease.epoch).toBeGreaterThan(highest)
            }
            highest = Math.max(highest, lease.epoch)
            held = { who: one.who, lease, renewedMs: clock.bootMs() }
          } else if (one.kind !== 'lose-counter' && held !== undefined) {
            const { kind } = (await stores[held.who]?.[one.kind](held.lease)) ?? { kind: 'none' }
            expect(['renewed', 'held', 'released']).toContain(kind)
            if (one.kind === 'renew') held.renewedMs = clock.bootMs()
            if (one.kind === 'release') held = undefined
          }
        }
        rmSync(folder, { recursive: true, force: true })
      }),
      { numRuns: 150 }
    )
  })
})

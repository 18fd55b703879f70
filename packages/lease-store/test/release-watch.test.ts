/** Waiting for a lease: what wakes, what ends the wait, and that nothing is left of it. Real files, a manual clock. */
import { linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LookResult } from '../src/index.js'
import { watches } from './harness/descriptors.js'
import { diskFolder } from './harness/folder.js'
import {
  claimed,
  ELSEWHERE,
  instance,
  olderRecord,
  type Party,
  party,
  request,
  TTL_MS,
  UID
} from './harness/parties.js'

/** A wait whose end can be looked at. */
function waiting(from: Party, options: { onStillHeld?: (look: LookResult) => void } = {}) {
  const abort = new AbortController()
  const wait = { state: 'waiting' as string, looks: 0, abort, done: Promise.resolve() }
  wait.done = from
    .store()
    .waitForRelease(UID, {
      signal: abort.signal,
      onStillHeld: (look) => {
        wait.looks++
        options.onStillHeld?.(look)
      }
    })
    .then(
      () => {
        wait.state = 'free'
      },
      (error: unknown) => {
        wait.state = `rejected: ${error instanceof Error ? error.message : error}`
      }
    )
  return wait
}

function expectNothingLeft({ clock }: Party): void {
  expect(clock.pendingTimers).toBe(0)
  expect(watches()).toBe(0)
}

describe('waiting for a release', () => {
  it('ends at once where nothing is held, and leaves nothing', async () => {
    const all = party(diskFolder())
    await all.store().waitForRelease(UID)
    expectNothingLeft(all)
  })

  it('is woken by the release alone: the clock stands still', async () => {
    const all = party(diskFolder())
    const holder = all.store()
    const lease = await claimed(holder)
    const wait = waiting(all)
    await holder.release(lease)
    await wait.done
    expect(wait.state).toBe('free')
    expectNothingLeft(all)
  })

  it('goes on through renewals in place and by replacement, and is then woken by the release', async () => {
    const all = party(diskFolder())
    const { store, files, clock } = all
    const holder = store()
    const lease = await claimed(holder)
    const wait = waiting(all)
    for (let round = 0; round < 6; round++) {
      const { looks } = wait
      clock.suspend(100)
      await holder.renew(lease)
      // An older build replaces the file: freed numbers are given to the next one, or it lives on in a backup.
      if (round % 2 === 1) {
        if (round === 5) linkSync(files.lease, `${files.lease}.backup`)
        const text = JSON.stringify({ ...files.record(), renewed_at_ms: clock.wallMs() + 1 })
        writeFileSync(`${files.lease}.new`, text)
        renameSync(`${files.lease}.new`, files.lease)
      }
      await expect.poll(() => wait.looks, { timeout: 20_000 }).toBeGreaterThan(looks)
    }
    expect(wait.state).toBe('waiting')
    await holder.release(lease)
    await wait.done
    expectNothingLeft(all)
  })

  it('is woken by the poll when the lease expires', async () => {
    const all = party(diskFolder())
    await claimed(all.store())
    const wait = waiting(all)
    await all.clock.advance(TTL_MS - 1)
    expect(wait.state).toBe('waiting')
    await all.clock.advance(1_000)
    expect(wait.state).toBe('free')
    expectNothingLeft(all)
  })

  it('ends when watching has decided', async () => {
    const all = party(diskFolder())
    await claimed(all.store({ host: ELSEWHERE }))
    all.clock.stepWall(3_600_000)
    const wait = waiting(all)
    await all.clock.advance(TTL_MS)
    expect(wait.state).toBe('free')
    expectNothingLeft(all)
  })

  it('lets a claim by the same store succeed where watching has decided', async () => {
    const all = party(diskFolder())
    const { clock, files, store } = all
    await claimed(store())
    writeFileSync(files.lease, JSON.stringify(olderRecord({ renewed_at_ms: 0 })))
    const mine = store()
    const wait = mine.waitForRelease(UID)
    await clock.advance(TTL_MS)
    await wait
    expect(await mine.claim(request())).toMatchObject({ kind: 'granted' })
  })

  it('ends at an abort with its reason, and leaves nothing', async () => {
    const all = party(diskFolder())
    const holder = all.store()
    await claimed(holder)
    const wait = waiting(all)
    expect(all.clock.pendingTimers).toBe(1)
    expect(watches()).toBe(1)
    wait.abort.abort(new Error('enough'))
    await wait.done
    expect(wait.state).toBe('rejected: enough')
    expectNothingLeft(all)
  })

  it('does not begin after an abort', async () => {
    const all = party(diskFolder())
    await claimed(all.store())
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(all.store().waitForRelease(UID, { signal })).rejects.toThrow('too late')
    expectNothingLeft(all)
  })

  it('tells what it found after each look, at least once a second', async () => {
    const all = party(diskFolder())
    await claimed(all.store({ instance: instance('beta') }))
    const found: LookResult[] = []
    const wait = waiting(all, { onStillHeld: (look) => found.push(look) })
    expect(found).toHaveLength(1)
    await all.clock.advance(3_000)
    expect(found.length).toBeGreaterThanOrEqual(4)
    expect(found[0]).toMatchObject({ kind: 'held', holder: { channel: 'beta' } })
    wait.abort.abort()
    await wait.done
  })

  it('ends with what the listener throws, and leaves nothing', async () => {
    const all = party(diskFolder())
    await claimed(all.store())
    const wait = waiting(all, {
      onStillHeld: () => {
        throw new Error('broken pipe')
      }
    })
    await wait.done
    expect(wait.state).toBe('rejected: broken pipe')
    expectNothingLeft(all)
  })

  it('can be aborted by the listener, and leaves nothing', async () => {
    const all = party(diskFolder())
    await claimed(all.store())
    const abort = new AbortController()
    const wait = all.store().waitForRelease(UID, {
      signal: abort.signal,
      onStillHeld: () => abort.abort(new Error('stop'))
    })
    await expect(wait).rejects.toThrow('stop')
    expectNothingLeft(all)
  })

  it('ends with a fault when the folder becomes a file', async () => {
    const all = party(diskFolder())
    const holder = all.store()
    await claimed(holder)
    const wait = waiting(all)
    rmSync(holder.folder, { recursive: true })
    writeFileSync(holder.folder, '')
    await all.clock.advance(1_000)
    await wait.done
    // The removal is seen first where the event comes before the file: then it is free.
    expect(wait.state).toMatch(/^(free|rejected: cannot read .*ENOTDIR)/)
    expectNothingLeft(all)
  })

  it('survives an odd file in the lease’s place', async () => {
    const all = party(diskFolder())
    const holder = all.store()
    await claimed(holder)
    const wait = waiting(all)
    rmSync(all.files.lease)
    writeFileSync(all.files.lease, '')
    await all.clock.advance(1_000)
    const expected = wait.state
    expect(['waiting', 'free']).toContain(expected)
    await all.clock.advance(TTL_MS)
    expect(wait.state).toBe('free')
    expect(statSync(all.files.lease).size).toBe(0)
    expectNothingLeft(all)
  })
})

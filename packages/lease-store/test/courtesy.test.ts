/** When a process keeps out of the way of others that want the same key, and for how long at most. Pure, but for the clock. */
import { closeSync, openSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Courtesy } from '../src/courtesy.js'
import { tryFlock } from '../src/native-flock.js'
import { diskFolder } from './harness/folder.js'
import { claimed, party, request } from './harness/parties.js'

const KEY = 'k'

describe('a process that has just given up a key', () => {
  it('claims it again at once if nobody else had it', () => {
    const courtesy = new Courtesy()
    courtesy.granted(KEY, 1)
    courtesy.released(KEY)
    courtesy.granted(KEY, 2)
    courtesy.released(KEY)
    expect(courtesy.pauseBeforeClaimMs(KEY)).toBe(0)
  })

  it('lets others go first if one of them had it in between', () => {
    const courtesy = new Courtesy()
    courtesy.granted(KEY, 1)
    courtesy.released(KEY)
    courtesy.granted(KEY, 3)
    courtesy.released(KEY)
    expect(courtesy.pauseBeforeClaimMs('another')).toBe(0)
    expect(courtesy.pauseBeforeClaimMs(KEY)).toBeGreaterThan(0)
    // They have had their turn then.
    expect(courtesy.pauseBeforeClaimMs(KEY)).toBe(0)
  })

  it('lets others go first if it was refused, but only right after a release of its own', () => {
    const courtesy = new Courtesy()
    courtesy.refused(KEY)
    expect(courtesy.pauseBeforeClaimMs(KEY)).toBe(0)
    courtesy.released(KEY)
    expect(courtesy.pauseBeforeClaimMs(KEY)).toBeGreaterThan(0)
  })
})

describe('a process that was woken by a release', () => {
  it('does not rest if it was not there in vain', () => {
    const courtesy = new Courtesy()
    courtesy.refused(KEY)
    expect(courtesy.restMs(KEY)).toBe(0)
    courtesy.woken(KEY)
    courtesy.granted(KEY, 1)
    expect(courtesy.restMs(KEY)).toBe(0)
  })

  it('rests longer each time that it comes too late, never so long that a release goes unnoticed for 10 ms', () => {
    const courtesy = new Courtesy()
    const rests: number[] = []
    for (let times = 0; times < 12; times++) {
      courtesy.woken(KEY)
      courtesy.refused(KEY)
      rests.push(courtesy.restMs(KEY))
    }
    expect(rests[0]).toBeLessThanOrEqual(2)
    expect(rests.every((restMs) => restMs > 0 && restMs < 10)).toBe(true)
    expect(Math.max(...rests.slice(4))).toBeGreaterThan(2)
  })
})

describe('a claim while somebody sits in the lock', () => {
  it('is refused by what the lease says, and does not wait for the lock', async () => {
    const all = party(diskFolder())
    const holder = all.store()
    await claimed(holder)
    const descriptor = openSync(all.files.lock, 'r+')
    onTestFinished(() => closeSync(descriptor))
    expect(tryFlock(descriptor)).toBe(true)
    const result = await all.store({ lockWaitMs: 60_000 }).claim(request({ blockId: 'another' }))
    expect(result).toMatchObject({ kind: 'refused', holder: { hostname: 'here' } })
  })
})

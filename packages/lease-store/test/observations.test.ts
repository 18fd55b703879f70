/** What watching a file has told so far, by our own clock. */
import { describe, expect, it } from 'vitest'
import { Observations } from '../src/observations.js'

describe('watching', () => {
  it('counts from the first sight, and anew from every change', () => {
    const seen = new Observations()
    expect(seen.look('k', 'one', 100)).toEqual({ unchangedForMs: 0, changedSeen: false })
    expect(seen.look('k', 'one', 150)).toEqual({ unchangedForMs: 50, changedSeen: false })
    expect(seen.look('k', 'two', 160)).toEqual({ unchangedForMs: 0, changedSeen: true })
    expect(seen.look('k', 'two', 175)).toEqual({ unchangedForMs: 15, changedSeen: true })
  })

  it('keeps keys apart, and starts anew after being told to forget', () => {
    const seen = new Observations()
    seen.look('k', 'one', 100)
    expect(seen.look('other', 'one', 200)).toEqual({ unchangedForMs: 0, changedSeen: false })
    seen.forget('k')
    expect(seen.look('k', 'one', 300)).toEqual({ unchangedForMs: 0, changedSeen: false })
  })

  it('of ever more keys forgets the oldest, which only makes that watch start anew', () => {
    const seen = new Observations()
    for (let key = 0; key <= 10_000; key++) seen.look(`k${key}`, 'one', 0)
    expect(seen.look('k0', 'one', 50)).toEqual({ unchangedForMs: 0, changedSeen: false })
    expect(seen.look('k10000', 'one', 50)).toEqual({ unchangedForMs: 50, changedSeen: false })
  })
})

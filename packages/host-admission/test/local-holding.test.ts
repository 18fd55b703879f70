import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { heldLeaseOf, localHolding, localHoldings } from '../src/local-holding.js'

const claimant = { hostname: 'mill', channel: 'stable', version: '1.0.0', pid: 1, ownerBootId: 'owner-1' }
const lease = (uid: string, held = true) => ({
  agent: { uid, name: 'Ada' },
  held,
  blockId: `block of ${uid}`,
  claimId: `claim of ${uid}`,
  acquiredAtMs: 17
})
const claimOf = (uid: string) => createHash('sha256').update(`claim of ${uid}`).digest('hex')
const notHeld = { held: false, hostname: 'mill', channel: '', version: '', acquired_at_ms: 0 }
const options = { held: new Set([lease('u-1'), lease('u-2', false)]), claimant }

describe('what this process holds', () => {
  test('is told with the hash of the claim, never the claim itself', () => {
    expect(localHolding('u-1', options)).toEqual({
      held: true,
      hostname: 'mill',
      channel: 'stable',
      version: '1.0.0',
      acquired_at_ms: 17,
      claim: claimOf('u-1')
    })
  })

  test('is found trimmed and in any ASCII case, and never by name', () => {
    expect(localHolding(' U-1 ', options).held).toBe(true)
    for (const uid of ['Ada', 'u-11', '']) expect(localHolding(uid, options)).toEqual(notHeld)
  })

  test('is held no longer from the loss on, while its processes end', () => {
    expect(localHolding('u-2', options)).toEqual(notHeld)
    expect(heldLeaseOf('u-2', options.held)).toBeUndefined()
  })

  test('many at once are answered by the UID as it was asked', () => {
    const holdings = localHoldings(['u-1', 'U-1', 'u-3', '__proto__'], options)
    expect([...holdings.keys()]).toEqual(['u-1', 'U-1', 'u-3', '__proto__'])
    expect([...holdings.values()].map(({ held }) => held)).toEqual([true, true, false, false])
  })
})

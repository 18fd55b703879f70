/** UUIDs, from the kernel where it gives them. */
import { describe, expect, it } from 'vitest'
import { randomUuid } from '../src/random-uuid.js'

describe('a random UUID', () => {
  it('is of version 4 and never the same', () => {
    const uuids = Array.from({ length: 1_000 }, randomUuid)
    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(new Set(uuids).size).toBe(uuids.length)
  })
})

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventQueue } from '../src/world/event-queue.js'

test('gives what is due by time, and what is due together in the order of planning', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (times) => {
      const queue = new EventQueue()
      const planned = times.map((atUs) => queue.add(atUs, () => {}))
      const taken = times.map(() => queue.take())
      const sorted = [...planned].sort((one, other) => one.atUs - other.atUs || one.order - other.order)
      expect(taken).toEqual(sorted)
      expect(queue.take()).toBeUndefined()
    })
  )
})

/** A bounded map that no single source can fill. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairMap } from '../src/peers/fair-map.js'

test('a source has its share and no more', () => {
  const map = new FairMap<number>({ total: 10, perSource: 2 })
  expect([map.set('a', 1, 's'), map.set('b', 2, 's'), map.set('c', 3, 's')]).toEqual([true, true, false])
  expect(map.set('a', 9, 's')).toBe(true)
  expect([...map.values()]).toEqual([9, 2])
})

test('or gives up its own oldest', () => {
  const map = new FairMap<number>({ total: 10, perSource: 2, whenSourceFull: 'drop-oldest' })
  for (const key of ['a', 'b', 'c']) map.set(key, 1, 's')
  expect([...map.entries()].map(([key]) => key)).toEqual(['b', 'c'])
})

test('when it is full, whoever has most makes room', () => {
  const map = new FairMap<number>({ total: 4, perSource: 4 })
  for (const key of ['j1', 'j2', 'j3', 'j4']) map.set(key, 0, 'junk')
  expect(map.set('real', 1, 'mill')).toBe(true)
  expect([...map.entries()].map(([key]) => key)).toEqual(['j1', 'j2', 'j3', 'real'])
  expect(map.set('j5', 0, 'junk')).toBe(false)
})

test('whatever comes: never above its bounds, and who has one entry keeps it against anyone', () => {
  const action = fc.record({
    key: fc.nat({ max: 40 }),
    source: fc.constantFrom('junk', 'junk', 'junk', 'other', 'mill'),
    remove: fc.boolean()
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const map = new FairMap<string>({ total: 8, perSource: 6 })
      expect(map.set('real', 'real', 'barn')).toBe(true)
      for (const { key, source, remove } of actions) {
        const name = `${source}-${key}`
        if (remove) map.delete(name)
        else map.set(name, source, source)
        expect(map.size).toBeLessThanOrEqual(8)
        expect([...map.values()].filter((value) => value === 'junk').length).toBeLessThanOrEqual(6)
        expect(map.get('real')).toBe('real')
      }
    })
  )
})

import { expect, test } from 'vitest'
import { unnamedHolder } from '../src/index.js'

test.each(['this-host', 'lan', 'relay'] as const)(
  'a holder of which only the place is known: %s',
  (place) => {
    const holder = unnamedHolder(place)
    expect(holder.place).toBe(place)
    const { place: _, ...rest } = holder
    expect(Object.values(rest).every((value) => value === '' || value === 0)).toBe(true)
  }
)

test('a holder survives JSON both ways', () => {
  expect(JSON.parse(JSON.stringify(unnamedHolder('lan')))).toEqual(unnamedHolder('lan'))
})

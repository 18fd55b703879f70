import { expect, test } from 'vitest'
import { shapeOf } from '../src/shape-flags.js'
import { runCli } from './run-cli.js'

const plain = { hosts: '2', agents: '3' }

test('what was asked for is what is drawn', () => {
  expect(shapeOf(plain)).toEqual({ hosts: 2, agents: 3 })
  expect(shapeOf({ ...plain, messages: true })).toEqual({ hosts: 2, agents: 3, messages: true })
  expect(shapeOf({ ...plain, older: '1', tier: 'lan' })).toEqual({
    hosts: 2,
    agents: 3,
    older: 1,
    tier: 'lan'
  })
})

test.each([
  [{ ...plain, hosts: '0' }, '--hosts takes a whole number from 1 to 1000, not "0"'],
  [{ ...plain, agents: 'two' }, '--agents takes a whole number from 1 to 10000, not "two"'],
  [{ ...plain, older: '-1' }, '--older takes a whole number from 1 to 1000, not "-1"'],
  [{ ...plain, tier: 'wan' }, '--tier takes one of lan, relay, none, not "wan"'],
  [{ ...plain, situation: 'rain' }, '--situation takes one of '],
  [{ ...plain, hosts: '1', messages: true }, 'give --hosts 2 or more'],
  [{ ...plain, tier: 'lan', messages: true }, 'or give --tier relay'],
  [{ ...plain, tier: 'relay', older: '1' }, 'leave --tier relay out'],
  [{ ...plain, messages: true, older: '1' }, 'do not go together']
])('%j is a mistake, and is told what is wrong', (flags, said) => {
  expect(() => shapeOf(flags)).toThrow(RangeError)
  expect(() => shapeOf(flags)).toThrow(said)
})

test.each([[['--no-such-option']], [['--older', 'some']]])('%j ends the command with 64', async (args) => {
  expect((await runCli('cli', args)).code).toBe(64)
})

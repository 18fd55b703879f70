/** Who is ourselves: by port and address, never by name. */
import { expect, test } from 'vitest'
import { isOurselves } from '../src/peers/own-machine.js'

const own = {
  ports: new Set([5001]),
  addresses: new Set(['127.0.0.1', '10.0.0.1', '172.17.0.1', 'fe80::1', 'fd00::1'])
}
const judged = (port: number, addresses: string[], source: string) =>
  isOurselves(own, { port, addresses, source })

test('our own advertisement, come back from any of our addresses', () => {
  expect(judged(5001, ['10.0.0.1'], '10.0.0.1')).toBe(true)
  expect(judged(5001, ['10.0.0.1'], 'fe80::1')).toBe(true)
  expect(judged(5001, [], '10.0.0.1')).toBe(true)
  expect(judged(5001, ['10.0.0.7', 'fd00::1'], '10.0.0.9')).toBe(true)
})

test('another instance of this machine is a peer', () => {
  expect(judged(5002, ['10.0.0.1'], '10.0.0.1')).toBe(false)
})

test('another machine on the same port is a peer', () => {
  expect(judged(5001, ['10.0.0.2'], '10.0.0.2')).toBe(false)
})

test('another machine that has a docker0 like ours is a peer, if it says so itself', () => {
  expect(judged(5001, ['10.0.0.2', '172.17.0.1'], '10.0.0.2')).toBe(false)
  expect(judged(5001, ['172.17.0.1'], '10.0.0.2')).toBe(true)
})

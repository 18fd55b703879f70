/** Which addresses are nearby, loopback, or a host that can be asked; and one spelling for each. */
import { expect, test } from 'vitest'
import { isLoopback, isNearby, isReachableHost, plainAddress } from '../src/peers/address-kinds.js'

test('an address has one spelling', () => {
  expect(plainAddress('FE80::0:1%eth0')).toBe('fe80::1')
  expect(plainAddress('::ffff:10.0.0.1')).toBe('10.0.0.1')
  expect(plainAddress('::FFFF:a00:1')).toBe('10.0.0.1')
  expect(plainAddress('10.0.0.1')).toBe('10.0.0.1')
  for (const none of ['', 'mill', '10.0.0', '10.0.0.1.2', 'fe80::1::', '010.0.0.1', '::1 ']) {
    expect(plainAddress(none)).toBeUndefined()
  }
})

test('nearby is loopback, private, link-local, unique local, and their IPv4-mapped forms', () => {
  const near = ['127.0.0.1', '::1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.9.9']
  for (const address of [...near, 'fe80::1', 'fe80::1%eth0', 'fd00::1', '::ffff:192.168.1.1']) {
    expect(isNearby(address), address).toBe(true)
  }
  const far = [
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '192.169.0.1',
    '2001:db8::1',
    '::ffff:8.8.8.8',
    'ff02::fb'
  ]
  for (const address of [...far, '224.0.0.251', '0.0.0.0', '', 'mill']) {
    expect(isNearby(address), address).toBe(false)
  }
})

test('loopback in every form', () => {
  for (const address of ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1']) {
    expect(isLoopback(address), address).toBe(true)
    expect(isReachableHost(address), address).toBe(false)
  }
})

test('no host is asked at a group, at nothing, or at an IPv6 address that needs a zone', () => {
  for (const address of ['224.0.0.251', '255.255.255.255', '0.0.0.0', '::', 'ff02::fb', 'fe80::1', '', 'x']) {
    expect(isReachableHost(address), address).toBe(false)
  }
  for (const address of ['10.0.0.1', '169.254.1.1', '8.8.8.8', 'fd00::1', '2001:db8::1']) {
    expect(isReachableHost(address), address).toBe(true)
  }
})

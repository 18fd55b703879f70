import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { InstanceEndpoint } from '../src/instance/instance-endpoint.js'
import { loopbackOrigin } from '../src/instance/loopback-url.js'

describe('the address of another instance', () => {
  test.each([
    ['http://127.0.0.1:4711', 'http://127.0.0.1:4711'],
    ['http://127.0.0.1:4711/', 'http://127.0.0.1:4711'],
    ['http://127.9.8.7:80', 'http://127.9.8.7'],
    ['http://[::1]:4711', 'http://[::1]:4711'],
    ['http://localhost:4711', 'http://localhost:4711'],
    ['http://0x7f.1:4711', 'http://127.0.0.1:4711'],
    ['http://127.0.0.1:4711/some/path?query#hash', 'http://127.0.0.1:4711']
  ])('%s is believed', (address, origin) => {
    expect(loopbackOrigin(address)).toBe(origin)
  })

  test.each([
    'https://127.0.0.1:4711',
    'http://192.168.0.10:4711',
    'http://0.0.0.0:4711',
    'http://[::ffff:127.0.0.1]:4711',
    'http://[::]:4711',
    'http://127.0.0.1.example.com:4711',
    'http://localhost.example.com:4711',
    'http://localhost@192.168.0.10:4711',
    'http://user@127.0.0.1:4711',
    'http://127.0.0.1:99999',
    'ws://127.0.0.1:4711',
    'file:///etc/passwd',
    '127.0.0.1:4711',
    '',
    `http://127.0.0.1:4711/${'x'.repeat(300)}`
  ])('%s is not', (address) => {
    expect(loopbackOrigin(address)).toBeUndefined()
  })

  test('an endpoint shows its key to nobody who prints or serialises it', () => {
    const options = { authKey: 'very-secret', pid: 1, channel: 'stable' }
    const endpoint = InstanceEndpoint.at('http://127.0.0.1:1', options)
    expect(endpoint?.authKey).toBe('very-secret')
    const shown = `${JSON.stringify(endpoint)} ${inspect(endpoint, { depth: 9, showHidden: true })} ${endpoint}`
    expect(shown).not.toContain('very-secret')
  })

  test.each(['with space', 'line\nbreak', 'x'.repeat(300), 'ümlaut'])(
    'a key that cannot stand in a header makes no endpoint: %j',
    (authKey) => {
      expect(InstanceEndpoint.at('http://127.0.0.1:1', { authKey, pid: 1, channel: '' })).toBeUndefined()
    }
  )
})

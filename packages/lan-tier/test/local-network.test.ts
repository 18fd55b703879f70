import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { LocalNetwork } from '../src/holdings/local-network.js'

function link(cidr: string, internal = false): NetworkInterfaceInfo {
  const [address = ''] = cidr.split('/')
  const common = { address, netmask: '', mac: '', internal, cidr }
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' }
}

const interfaces = () => ({
  lo: [link('127.0.0.1/8', true), link('::1/128', true)],
  eth0: [link('203.0.113.7/24'), link('2001:db8:1::7/64')],
  tun0: [link('0.0.0.0/0')]
})
const reach = new LocalNetwork({ interfaces }).reach()

describe('where questions go', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3', '10.1.2.3'],
    ['172.31.0.1', '172.31.0.1', '172.31.0.1'],
    ['192.168.0.9', '192.168.0.9', '192.168.0.9'],
    ['169.254.3.4', '169.254.3.4', '169.254.3.4'],
    ['203.0.113.200', '203.0.113.200', '203.0.113.200'],
    ['2001:db8:1::99', '2001:db8:1::99', '[2001:db8:1::99]'],
    ['fd00::1', 'fd00::1', '[fd00::1]'],
    ['fe80::1%eth0', 'fe80::1%eth0', '[fe80::1]'],
    ['::ffff:10.1.2.3', '10.1.2.3', '10.1.2.3'],
    ['::ffff:a01:203', '10.1.2.3', '10.1.2.3']
  ])('%s is on a network of this computer', (address, host, urlHost) => {
    expect(reach(address)).toEqual({ host, urlHost })
  })

  it.each([
    '8.8.8.8',
    '203.0.114.1',
    '2001:db8:2::1',
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '0.0.0.0',
    '::',
    '224.0.0.251',
    '255.255.255.255',
    'ff02::fb%eth0',
    'fe80::1',
    'fe80::1%',
    'fe80::1%eth0/../..',
    'fd00::1%eth0',
    'localhost',
    'printer.local',
    'example.org',
    '10.1',
    '0x0a000001',
    '10.0.0.1:80',
    '[fd00::1]',
    '10.0.0.1@evil',
    ''
  ])('%j is not asked', (address) => {
    expect(reach(address)).toBeUndefined()
  })

  it('loopback counts only where instances on one computer ask each other', () => {
    const own = new LocalNetwork({ interfaces, loopback: true }).reach()
    expect(own('127.0.0.5')).toEqual({ host: '127.0.0.5', urlHost: '127.0.0.5' })
    expect(own('::1')).toEqual({ host: '::1', urlHost: '[::1]' })
    expect(own('8.8.8.8')).toBeUndefined()
  })

  it('looks at the interfaces anew for each round', () => {
    let now: Record<string, NetworkInterfaceInfo[]> = {}
    const network = new LocalNetwork({ interfaces: () => now })
    expect(network.reach()('203.0.113.200')).toBeUndefined()
    now = interfaces()
    expect(network.reach()('203.0.113.200')).toBeDefined()
  })
})

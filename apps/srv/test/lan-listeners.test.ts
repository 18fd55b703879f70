/** The sockets for other computers: real ones, at further addresses of the loopback interface. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'
import { createSystemClock } from '@agentmux/lease-model'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lanAddresses } from '../src/lan/lan-addresses.js'
import { LanListeners } from '../src/lan/lan-listeners.js'
import { until } from './harness/until.js'

const at = (address: string, internal = false): NetworkInterfaceInfo =>
  ({
    address,
    netmask: '255.0.0.0',
    family: address.includes(':') ? 'IPv6' : 'IPv4',
    mac: '00:00:00:00:00:00',
    internal,
    cidr: `${address}/8`,
    ...(address.includes(':') ? { scopeid: 0 } : {})
  }) as NetworkInterfaceInfo

async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function answers(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    onTestFinished(() => void socket.destroy())
  })
}

async function listeners(interfaces: () => Record<string, NetworkInterfaceInfo[]>) {
  const port = await freePort()
  const changes: string[][] = []
  const faults: string[] = []
  const made: Server[] = []
  const listening = new LanListeners({
    createServer: () => {
      const server = createServer()
      made.push(server)
      return server
    },
    port,
    clock: createSystemClock(),
    onChange: (addresses) => changes.push([...addresses]),
    onFault: (address, fault) =>
      faults.push(`${address} ${(fault as NodeJS.ErrnoException).code ?? fault.message}`),
    interfaces
  })
  onTestFinished(() => listening.close())
  return { port, changes, faults, made, listening }
}

test('others reach us at every address but loopback and link-local IPv6', () => {
  const interfaces = {
    lo: [at('127.0.0.1', true), at('::1', true)],
    eth0: [at('10.1.2.3'), at('fe80::1'), at('FEBF::2'), at('fd00::1'), at('10.1.2.3')],
    docker0: [at('172.17.0.1')],
    gone: undefined
  }
  expect(lanAddresses(interfaces)).toEqual(['10.1.2.3', 'fd00::1', '172.17.0.1'])
})

describe('LAN listeners', () => {
  test('listen at each address, and nowhere once they are closed', async () => {
    const { port, listening, changes } = await listeners(() => ({
      a: [at('127.0.0.2')],
      b: [at('127.0.0.3')]
    }))
    listening.open()
    await until('both are up', () => listening.addresses.length === 2)
    expect(await answers('127.0.0.2', port)).toBe(true)
    expect(await answers('127.0.0.1', port)).toBe(false)
    await listening.close()
    expect(listening.addresses).toEqual([])
    expect(changes.at(-1)).toEqual([])
    expect(await answers('127.0.0.3', port)).toBe(false)
  })

  test('an address that another program has is told once, and costs the others nothing', async () => {
    const { port, listening, faults } = await listeners(() => ({
      a: [at('127.0.0.2')],
      b: [at('127.0.0.3')]
    }))
    const other = createTcpServer()
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.2', resolve))
    listening.open()
    await until('one is up and one is not', () => listening.addresses.length === 1 && faults.length === 1)
    expect(listening.addresses).toEqual(['127.0.0.3'])
    expect(faults).toEqual(['127.0.0.2 EADDRINUSE'])
    await new Promise((resolve) => other.close(resolve))
  })

  test('closed in the moment they are opened, they do not listen afterwards', async () => {
    const { port, listening, made } = await listeners(() => ({ a: [at('127.0.0.2')] }))
    for (let round = 0; round < 20; round++) {
      listening.open()
      await listening.close()
    }
    await until('none listens', () => made.length === 20 && made.every((server) => !server.listening))
    expect(await answers('127.0.0.2', port)).toBe(false)
    expect(listening.addresses).toEqual([])
  })

  test('interfaces that cannot be read are told, and nothing breaks', async () => {
    const { listening, faults } = await listeners(() => {
      throw Object.assign(new Error('no'), { code: 'EPERM' })
    })
    listening.open()
    expect(faults).toEqual([' EPERM'])
    await listening.close()
  })
})

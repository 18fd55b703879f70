/**
 * Discovery on sockets that lead nowhere: the test is the network. Everything from the arrival of a datagram on is the
 * real thing, the library's decoder included.
 */

import type { Socket, SocketOptions } from 'node:dgram'
import { EventEmitter } from 'node:events'
import type { NetworkInterfaceInfo } from 'node:os'
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import { type DiscoveryEvent, LanDiscovery } from '../../src/index.js'

export interface SentDatagram {
  readonly bytes: Buffer
  readonly port: number
  readonly address: string
}

export class StubSocket extends EventEmitter {
  readonly options: SocketOptions
  readonly sent: SentDatagram[] = []
  port = 0
  readonly #plan: StubPlan
  #closed = false

  constructor(options: SocketOptions, plan: StubPlan) {
    super()
    this.options = options
    this.#plan = plan
  }

  bind(to: number | { port: number }, ...rest: unknown[]): this {
    this.port = typeof to === 'number' ? to : to.port
    const bound = rest.find((one) => typeof one === 'function') as (() => void) | undefined
    queueMicrotask(() => {
      this.emit('listening')
      bound?.()
    })
    return this
  }

  send(bytes: Buffer, ...rest: unknown[]): void {
    const numbers = rest.filter((one): one is number => typeof one === 'number')
    const address = String(rest.find((one) => typeof one === 'string'))
    const datagram = { bytes, port: numbers.at(-1) ?? 0, address }
    this.sent.push(datagram)
    this.#plan.onSend?.(this, datagram)
    const done = rest.find((one) => typeof one === 'function') as ((cause: null) => void) | undefined
    queueMicrotask(() => done?.(null))
  }

  /** A datagram arrives. */
  deliver(bytes: Uint8Array, from: { address: string; port: number }): void {
    if (!this.#closed) this.emit('message', Buffer.from(bytes), { ...from, size: bytes.byteLength })
  }

  close(done?: () => void): void {
    this.#closed = true
    if (done) queueMicrotask(done)
  }

  address() {
    return { address: '0.0.0.0', family: 'IPv4', port: this.port }
  }
  addMembership(_group: string, address: string): void {
    if (this.#plan.refusesJoin?.(address))
      throw Object.assign(new Error('no such device'), { code: 'ENODEV' })
  }
  dropMembership(): void {}
  setMulticastInterface(): void {}
  setMulticastTTL(): void {}
  setMulticastLoopback(): void {}
  setBroadcast(): void {}
}

/** `host`: the last number of its addresses. */
export function etherCard(host: number): NetworkInterfaceInfo[] {
  const mac = `02:00:00:00:00:0${host}`
  const [v4, v6] = [`10.0.0.${host}`, `fe80::${host}`]
  const netmask = 'ffff:ffff:ffff:ffff::'
  return [
    { family: 'IPv4', address: v4, netmask: '255.255.255.0', mac, internal: false, cidr: `${v4}/24` },
    { family: 'IPv6', address: v6, netmask, mac, internal: false, cidr: `${v6}/64`, scopeid: 2 }
  ]
}

export interface StubPlan {
  readonly clock?: ManualClock
  readonly name?: string
  readonly interfaces?: NodeJS.Dict<NetworkInterfaceInfo[]>
  readonly random?: () => number
  /** Whether joining at this address fails. */
  readonly refusesJoin?: (address: string) => boolean
  readonly onSend?: (from: StubSocket, datagram: SentDatagram) => void
}

export interface StubbedDiscovery {
  readonly discovery: LanDiscovery
  readonly clock: ManualClock
  readonly events: DiscoveryEvent[]
  readonly sockets: readonly StubSocket[]
  /** The first socket of that port; the asker's is 0. */
  socket(port: 5353 | 47891 | 0): StubSocket
}

export async function stubbedDiscovery(port?: number, plan: StubPlan = {}): Promise<StubbedDiscovery> {
  const { clock = createManualClock(), name = 'us', interfaces = { eth0: etherCard(1) } } = plan
  const { random = () => 0.5 } = plan
  const events: DiscoveryEvent[] = []
  const sockets: StubSocket[] = []
  const discovery = new LanDiscovery({
    clock,
    identity: { instanceId: `${name}/stable`, hostname: name, version: '1', channel: 'stable' },
    lanKey: 'our-key',
    onEvent: (event) => void events.push(event),
    ports: {
      interfaces: () => interfaces,
      random,
      createSocket: (options) => {
        const socket = new StubSocket(options, plan)
        sockets.push(socket)
        return socket as unknown as Socket
      }
    }
  })
  await discovery.start()
  if (port !== undefined) discovery.advertise(port)
  await clock.advance(5_000)
  const socket = (wanted: number) => {
    const found = sockets.find((one) => one.port === wanted)
    if (!found) throw new Error(`no socket on ${wanted}`)
    return found
  }
  return { discovery, clock, events, sockets, socket }
}

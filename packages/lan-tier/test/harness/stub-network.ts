/** A network without a network: several discoveries on one clock that is moved by hand, and every datagram delivered. */
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import { seeded } from './fuzzed-packets.js'
import {
  etherCard,
  type SentDatagram,
  type StubbedDiscovery,
  type StubSocket,
  stubbedDiscovery
} from './stub-socket.js'

/** Of a socket that was bound to no port in particular. */
const ANY_PORT = 40_000

const isForAll = (address: string) => /^(224\.0\.0\.251|ff02::fb.*|.*\.255)$/.test(address)

export class StubNetwork {
  readonly clock: ManualClock = createManualClock()
  readonly hosts: StubbedDiscovery[] = []
  /** Sent to everybody, so far. */
  forAll = 0

  /** One more computer, with one instance that advertises. Resolves when it has begun to. */
  async add(): Promise<StubbedDiscovery> {
    const number = this.hosts.length + 1
    const net = await stubbedDiscovery(5001, {
      clock: this.clock,
      name: `host${number}`,
      interfaces: { eth0: etherCard(number) },
      random: seeded(number),
      onSend: (from, datagram) => this.#carry(number, from, datagram)
    })
    this.hosts.push(net)
    return net
  }

  #carry(number: number, from: StubSocket, { bytes, port, address }: SentDatagram): void {
    const forAll = isForAll(address)
    if (forAll) this.forAll++
    const is6 = from.options.type === 'udp6'
    const source = { address: is6 ? `fe80::${number}%eth0` : `10.0.0.${number}`, port: from.port || ANY_PORT }
    // A card hears what it says itself, too.
    for (const [index, { sockets }] of this.hosts.entries()) {
      if (!forAll && address !== `10.0.0.${index + 1}`) continue
      for (const socket of sockets) {
        if ((socket.options.type === 'udp6') !== is6 || (socket.port || ANY_PORT) !== port) continue
        queueMicrotask(() => socket.deliver(bytes, source))
      }
    }
  }
}

/**
 * The sockets at which other computers reach us: one for each address of this computer, all at one port, for as long as the
 * LAN is on. Addresses that come and go are followed; one that cannot be listened at is told and tried again, and costs
 * the others nothing.
 */
import type { Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import { type Interfaces, lanAddresses } from './lan-addresses.js'

export interface LanListenersOptions {
  /** A server with the LAN routes and no others, listening nowhere yet. */
  readonly createServer: () => Server
  readonly port: number
  readonly clock: Clock
  /** Whenever the addresses at which we can be reached have changed. */
  readonly onChange: (addresses: readonly string[]) => void
  /** An address cannot be listened at: told once until it can. */
  readonly onFault: (address: string, fault: Error) => void
  readonly interfaces?: () => Interfaces
}

/** By the protocol. */
const READ_AGAIN_MS = 20_000

export class LanListeners {
  readonly #options: LanListenersOptions
  readonly #servers = new Map<string, Server>()
  readonly #up = new Set<string>()
  readonly #failed = new Set<string>()
  #cancelTimer: CancelTimer = () => {}
  #isOpen = false

  constructor(options: LanListenersOptions) {
    this.#options = options
  }

  /** Where others reach us now. */
  get addresses(): readonly string[] {
    return [...this.#up]
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#read()
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    this.#isOpen = false
    this.#cancelTimer()
    await Promise.all([...this.#servers.keys()].map((address) => this.#end(address)))
    this.#failed.clear()
  }

  #read(): void {
    const { clock, interfaces = networkInterfaces } = this.#options
    const wanted = new Set(lanAddresses(interfaces()))
    for (const address of this.#servers.keys()) if (!wanted.has(address)) void this.#end(address)
    for (const address of wanted) if (!this.#servers.has(address)) this.#listen(address)
    for (const address of this.#failed) if (!wanted.has(address)) this.#failed.delete(address)
    this.#cancelTimer = clock.after(READ_AGAIN_MS, () => this.#read())
  }

  #listen(address: string): void {
    const { createServer, port, onFault } = this.#options
    const server = createServer()
    this.#servers.set(address, server)
    server.on('listening', () => {
      if (this.#servers.get(address) !== server) return
      this.#failed.delete(address)
      this.#up.add(address)
      this.#tell()
    })
    server.on('error', (fault) => {
      if (this.#servers.get(address) !== server) return
      void this.#end(address)
      if (this.#failed.has(address)) return
      this.#failed.add(address)
      onFault(address, fault)
    })
    // Only this address: the same port on loopback is the daemon's own.
    server.listen({ host: address, port, ipv6Only: address.includes(':') })
  }

  async #end(address: string): Promise<void> {
    const server = this.#servers.get(address)
    if (server === undefined) return
    this.#servers.delete(address)
    if (this.#up.delete(address)) this.#tell()
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }

  #tell(): void {
    this.#options.onChange(this.addresses)
  }
}

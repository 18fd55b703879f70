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
  /** An address cannot be listened at, or (without one) none can be read: told once until it can. */
  readonly onFault: (address: string, fault: Error) => void
  readonly interfaces?: () => Interfaces
}

/** In place of an address: the interfaces themselves cannot be read. */
const NO_ADDRESS = ''
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
    const wanted = this.#wanted()
    if (wanted !== undefined) {
      for (const address of this.#servers.keys()) if (!wanted.has(address)) void this.#end(address)
      for (const address of wanted) if (!this.#servers.has(address)) this.#listen(address)
      for (const address of this.#failed) if (!wanted.has(address)) this.#failed.delete(address)
    }
    this.#cancelTimer = this.#options.clock.after(READ_AGAIN_MS, () => this.#read())
  }

  /** Undefined if it cannot be read now: then what is there stays. */
  #wanted(): Set<string> | undefined {
    const { interfaces = networkInterfaces } = this.#options
    try {
      return new Set(lanAddresses(interfaces()))
    } catch (fault) {
      this.#fail(NO_ADDRESS, fault instanceof Error ? fault : new Error(String(fault)))
      return undefined
    }
  }

  #listen(address: string): void {
    const { createServer, port } = this.#options
    const server = createServer()
    this.#servers.set(address, server)
    server.on('listening', () => {
      // Turned off between the call and here: then it must not stay open.
      if (this.#servers.get(address) !== server) return void server.close()
      this.#failed.delete(address)
      this.#up.add(address)
      this.#tell()
    })
    server.on('error', (fault) => {
      if (this.#servers.get(address) !== server) return
      void this.#end(address)
      this.#fail(address, fault)
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

  #fail(address: string, fault: Error): void {
    if (this.#failed.has(address)) return
    this.#failed.add(address)
    this.#options.onFault(address, fault)
  }

  #tell(): void {
    this.#options.onChange(this.addresses)
  }
}

/** What discovery needs of the system, so that tests can stand in for it. */
import { createSocket, type Socket, type SocketOptions } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { MDNS_PORT } from './dns-message.js'
import type { ReadInterfaces } from './links.js'
import { PROBE_PORT } from './probe-message.js'

export interface DiscoveryPorts {
  readonly interfaces: ReadInterfaces
  readonly createSocket: (options: SocketOptions) => Socket
  /** Evenly from 0 up to 1. */
  readonly random: () => number
  readonly mdnsPort: number
  readonly probePort: number
}

export const SYSTEM_PORTS: DiscoveryPorts = {
  interfaces: networkInterfaces,
  createSocket: (options) => createSocket(options),
  random: Math.random,
  mdnsPort: MDNS_PORT,
  probePort: PROBE_PORT
}

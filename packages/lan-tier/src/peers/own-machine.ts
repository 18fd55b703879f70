/** Whether a claim is our own, come back to us: by port and address, never by a name or an id that anyone can copy. */
export interface OwnMachine {
  /** Ports under which we have advertised ourselves. */
  readonly ports: ReadonlySet<number>
  /** Every address of this machine, plain, loopback included. */
  readonly addresses: ReadonlySet<string>
}

export interface Sighting {
  readonly port: number
  readonly addresses: readonly string[]
  /** Who sent it, plain. */
  readonly source: string
}

/**
 * The same port, and any address is one of this machine's. The exception: the sender is another machine and says so of
 * itself. Two computers with a docker0 each share 172.17.0.1, and older builds advertise it.
 */
export function isOurselves(own: OwnMachine, { port, addresses, source }: Sighting): boolean {
  if (!own.ports.has(port)) return false
  if (!own.addresses.has(source) && addresses.includes(source)) return false
  return own.addresses.has(source) || addresses.some((address) => own.addresses.has(address))
}

/** Where a holder runs, seen from the process that is being refused. */
export type Place = 'this-host' | 'lan' | 'relay'

/** Who drives an agent, as far as the tier that answered can tell. Plain data: it survives JSON both ways. */
export interface Holder {
  readonly place: Place
  /** Lower-cased host name; empty if unknown. */
  readonly hostname: string
  /** The holder's channel; empty if unknown. */
  readonly channel: string
  /** The holder's version; empty if unknown. */
  readonly version: string
  /** The holder's process id in its own pid namespace; 0 if unknown. */
  readonly pid: number
  /** When the holder's claim began, Unix milliseconds by the holder's clock; 0 if unknown. */
  readonly acquiredAtMs: number
  /** The fencing epoch of the claim; 0 if unknown. */
  readonly epoch: number
  /** The pane that holds it; empty if unknown. */
  readonly blockId: string
}

/** A holder of which nothing is known but the place: the file exists and cannot be read, say. */
export function unnamedHolder(place: Place): Holder {
  return {
    place,
    hostname: '',
    channel: '',
    version: '',
    pid: 0,
    acquiredAtMs: 0,
    epoch: 0,
    blockId: ''
  }
}

/** Who asks for a lease, and who has it. Two are the same holder if instance and install are the same, whatever else differs. */

export interface Claimant {
  /** `<host label>/<channel>`. */
  readonly instance: string
  /** A UUID of the installation; empty for older clients. */
  readonly install: string
  readonly host: string
  readonly channel: string
  readonly version: string
}

/** What is known of a claimant where only its identity counts. */
export type Identity = Pick<Claimant, 'instance' | 'install'>

export interface Holder extends Claimant {
  readonly epoch: number
  /** When the claim was granted, Unix milliseconds by the relay's wall clock: for people. */
  readonly acquiredAtMs: number
}

export function isSameHolder(one: Identity, other: Identity): boolean {
  return one.instance === other.instance && one.install === other.install
}

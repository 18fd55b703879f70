/** One who drives the agent, as the tie-break sees it: the start and the host name of its lease file, and its claim. */
export interface Contender {
  /** Start of its claim, Unix milliseconds by its own clock, as in its lease file. May be any number at all. */
  readonly acquiredAtMs: number
  /** As in a lease: trimmed and lower-cased; empty if unknown. */
  readonly hostname: string
  /** Hex SHA-256 of its claim id; empty if it did not say. */
  readonly claim: string
}

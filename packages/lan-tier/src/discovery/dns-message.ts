/** The part of DNS messages that discovery reads and writes. What comes in was decoded by the library, and is hostile. */
export interface DnsQuestion {
  readonly name: string
  readonly type: string
  readonly class?: string
}

export interface DnsRecord {
  readonly name: string
  readonly type: string
  readonly class?: string
  /** Seconds. Zero is a goodbye. */
  readonly ttl?: number
  /** "These are all there are": whoever keeps others of this name and type should forget them. */
  readonly flush?: boolean
  readonly data?: unknown
}

export interface DnsMessage {
  readonly id?: number
  readonly type: 'query' | 'response'
  readonly flags?: number
  readonly flag_tc?: boolean
  readonly questions?: readonly DnsQuestion[]
  readonly answers?: readonly DnsRecord[]
  readonly authorities?: readonly DnsRecord[]
  readonly additionals?: readonly DnsRecord[]
}

export const TRUNCATED_FLAG = 1 << 9
export const AUTHORITATIVE_FLAG = 1 << 10
export const MDNS_PORT = 5_353

/** Names are compared without regard to case. */
export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

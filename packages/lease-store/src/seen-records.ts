/**
 * The records read last, with the file text they were read from: equal bytes need no parsing again. A memory only; it
 * never answers for a file that was not just read.
 */
import { type LeaseRecord, parseRecord } from './lease-record.js'

/** Keys remembered at the same time; beyond this the oldest is forgotten and parsed when it comes again. */
const MAX_KEYS = 16_384
/** A text longer than this was not written by us and is not worth its room. */
const MAX_TEXT = 4_096

interface Seen {
  readonly text: string
  readonly record: LeaseRecord | undefined
}

export class SeenRecords {
  readonly #seen = new Map<string, Seen>()

  /** What a lease file's text says; undefined if it is damaged, or is the lease of another key. */
  recordOf(key: string, text: string): LeaseRecord | undefined {
    const seen = this.#seen.get(key)
    if (seen !== undefined && seen.text === text) return seen.record
    const record = parseRecord(key, text)
    this.note(key, text, record)
    return record
  }

  note(key: string, text: string, record: LeaseRecord | undefined): void {
    if (text.length > MAX_TEXT) return
    this.#seen.set(key, { text, record })
    if (this.#seen.size <= MAX_KEYS) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}

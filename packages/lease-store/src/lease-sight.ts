/**
 * What stands in a key's lease file, and how it is judged by this process: the eyes of a store. It writes nothing and
 * takes no lock (R6).
 */
import {
  type Clock,
  DEFAULT_TTL_MS,
  type Holder,
  type HostIdentity,
  unnamedHolder
} from '@agentmux/lease-model'
import { doubtsAbout } from './file-system.js'
import { judge, judgeByWatching, sameHost, type Verdict } from './judgement.js'
import type { LeasePaths } from './lease-paths.js'
import { holderOf, type LeaseRecord } from './lease-record.js'
import { Observations } from './observations.js'
import { processState } from './process-state.js'
import { SeenRecords } from './seen-records.js'
import { type FileText, fileIdentity, fileNumber, readText } from './small-file.js'

/** A lease file, read and, if it can be, understood. */
export type Sight =
  | { readonly kind: 'missing' }
  /** `text` is undefined for what is no text at all: a folder, a link, a pipe, too large. */
  | { readonly kind: 'unreadable'; readonly text: string | undefined }
  | { readonly kind: 'record'; readonly text: string; readonly record: LeaseRecord }

const MISSING: Sight = { kind: 'missing' }
const NO_TEXT: Sight = { kind: 'unreadable', text: undefined }

/** A rewrite is one small write; more than a few torn reads in a row means that the file is damaged. */
const MAX_READS = 8

export interface SightOptions {
  readonly folder: string
  readonly host: HostIdentity
  readonly clock: Clock
  readonly ttlMs: number
  /** Reads a file without its lock. */
  readonly read?: (path: string) => FileText
}

export class LeaseSight {
  readonly #folder: string
  readonly #host: HostIdentity
  readonly #clock: Clock
  /** Nobody knows the TTL of a record that cannot be read, so no less than anybody's. */
  readonly #unreadableTtlMs: number
  readonly #observations = new Observations()
  readonly #seen = new SeenRecords()
  readonly #read: (path: string) => FileText
  #doubts: string | undefined

  constructor({ folder, host, clock, ttlMs, read = readText }: SightOptions) {
    this.#read = read
    this.#folder = folder
    this.#host = host
    this.#clock = clock
    this.#unreadableTtlMs = Math.max(DEFAULT_TTL_MS, ttlMs)
  }

  /** What the file says, to one who holds its lock. */
  underLock(key: string, path: string): Sight {
    return this.understand(key, readText(path))
  }

  /**
   * What the file says, without the lock: a renewal may be rewriting it in place, so a text counts once two reads in a
   * row agree and it parses. Waits for nobody; what never settles is returned as last read.
   */
  settled(key: string, path: string): Sight {
    let before = this.understand(key, this.#read(path))
    for (let reads = 1; reads < MAX_READS; reads++) {
      const again = this.understand(key, this.#read(path))
      if (sameSight(before, again) && (again.kind !== 'unreadable' || again.text === undefined)) return again
      before = again
    }
    return before
  }

  understand(key: string, file: FileText): Sight {
    if (file.kind === 'missing') return MISSING
    if (file.kind === 'odd') return NO_TEXT
    const record = this.#seen.recordOf(key, file.text)
    if (record === undefined) return { kind: 'unreadable', text: file.text }
    return { kind: 'record', text: file.text, record }
  }

  /** Whether whoever the file names still counts. */
  judge(key: string, paths: LeasePaths, sight: Exclude<Sight, { kind: 'missing' }>): Verdict {
    const bootMs = this.#clock.bootMs()
    const observe = () => {
      return this.#observations.look(key, fingerprintOf(paths.lease, sight.text), bootMs)
    }
    if (sight.kind === 'unreadable') return judgeByWatching(this.#unreadableTtlMs, observe())
    return judge(sight.record, {
      host: this.#host,
      wallMs: this.#clock.wallMs(),
      bootMs,
      watchOnly: this.doubts() !== '',
      processState,
      observe
    })
  }

  holder(sight: Exclude<Sight, { kind: 'missing' }>): Holder {
    if (sight.kind === 'unreadable') return unnamedHolder('this-host')
    return holderOf(sight.record, sameHost(sight.record, this.#host))
  }

  /** Why the folder's file system does not deserve full trust; empty if it does, or the folder does not exist. */
  doubts(): string {
    this.#doubts ??= doubtsAbout(this.#folder)
    return this.#doubts ?? ''
  }

  /** Remembers what was just written, so that reading it again needs no parsing. */
  wrote(key: string, text: string, record: LeaseRecord): void {
    this.#seen.note(key, text, record)
  }

  /** The lease is gone or changed hands: what was watched before says nothing about what comes. */
  forget(key: string): void {
    this.#observations.forget(key)
    this.#seen.forget(key)
  }
}

/** Bytes and file alone: a new time of last change must not keep a dead holder's lease. What has no bytes has only that. */
function fingerprintOf(path: string, text: string | undefined): string {
  return text === undefined ? fileIdentity(path) : `${fileNumber(path)} ${text}`
}

function sameSight(one: Sight, other: Sight): boolean {
  if (one.kind === 'missing' || other.kind === 'missing') return one.kind === other.kind
  return one.text === other.text
}

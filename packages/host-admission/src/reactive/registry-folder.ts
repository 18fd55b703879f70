/**
 * The files of the reactive registry: `<shared>/agents/reactive/<stem(agent name)>/<stem(channel)>.json`. Reads what is
 * there without trusting any of it; creates nothing, and removes only what its callers say. Folders that hold nothing but
 * our own entries are not read again until they change, and looked at four times a second at most; a file of others is
 * looked at each time and read again when it has changed. So a look costs little, with many agents here and beside us.
 */
import { lstatSync, readdirSync, rmdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '@agentmux/lease-model'
import { readPrivateFile, removeQuietly } from '../private-file.js'
import { parseEntry, type RegistryEntry } from './registry-entry.js'
import { stem } from './stem.js'

export type EntryFile =
  | { readonly kind: 'entry'; readonly entry: RegistryEntry }
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' }
  /** There, and closed to us. */
  | { readonly kind: 'unreadable' }

const SUFFIX = '.json'
/** More than anybody has; beyond it a look reads no further. */
const MAX_FOLDERS = 10_000
const MAX_FILES_PER_FOLDER = 100
/** A change in the same tick of the file system's clock leaves no trace, so only what is older is remembered. */
const SETTLED_MS = 100
/** For this long a folder of ours is taken to be unchanged: another instance of one of our agents is seen that late. */
const OURS_GOOD_FOR_MS = 250

interface Listing {
  readonly stamp: string
  readonly lookedAtMs: number
  /** What has to be looked at each time: everything but our own entries. */
  readonly files: readonly ReadFile[]
}

interface ReadFile {
  readonly path: string
  /** Which file it was, and when it was written; undefined if it is to be read again in any case. */
  readonly stamp: string | undefined
  readonly file: EntryFile
}

export class RegistryFolder {
  readonly path: string
  readonly #clock: Clock
  readonly #listings = new Map<string, Listing>()

  constructor(sharedRoot: string, clock: Clock) {
    if (typeof sharedRoot !== 'string' || sharedRoot === '') {
      throw new TypeError('the shared root must be a path')
    }
    this.path = join(sharedRoot, 'agents', 'reactive')
    this.#clock = clock
  }

  fileOf(agentName: string, channel: string): string {
    return join(this.path, stem(agentName), stem(channel) + SUFFIX)
  }

  read(path: string): EntryFile {
    const file = readPrivateFile(path)
    if (file.kind === 'odd') return { kind: 'malformed' }
    if (file.kind !== 'text') return file
    const entry = parseEntry(file.text)
    return entry === undefined ? { kind: 'malformed' } : { kind: 'entry', entry }
  }

  /** Every file in the folders of agents, entries or not. */
  *files(): Generator<string> {
    for (const agent of namesIn(this.path, MAX_FOLDERS)) {
      const folder = join(this.path, agent)
      for (const name of namesIn(folder)) yield join(folder, name)
    }
  }

  /** Every entry that is not ours, as it is now. */
  entriesOfOthers(isOwn: (entry: RegistryEntry) => boolean): RegistryEntry[] {
    const names = namesIn(this.path, MAX_FOLDERS)
    const nowMs = this.#clock.bootMs()
    const others: RegistryEntry[] = []
    for (const name of names) {
      const known = this.#listings.get(name)
      if (known?.files.length === 0 && nowMs - known.lookedAtMs < OURS_GOOD_FOR_MS) continue
      const folder = join(this.path, name)
      const stats = statsOf(folder)
      if (stats === undefined) continue
      const stamp = `${stats.ino} ${stats.mtimeMs}`
      const files = known?.stamp === stamp ? known.files : entryFilesIn(folder)
      const notOurs = files.flatMap((before) => {
        const read = this.#readIfChanged(before)
        if (read.file.kind !== 'entry') return [read]
        if (isOwn(read.file.entry)) return []
        others.push(read.file.entry)
        return [read]
      })
      if (this.#isSettled(stats)) this.#listings.set(name, { stamp, lookedAtMs: nowMs, files: notOurs })
      else this.#listings.delete(name)
    }
    if (this.#listings.size > names.length) this.#forgetAllBut(new Set(names))
    return others
  }

  #readIfChanged(before: ReadFile): ReadFile {
    const { path } = before
    // Before it is read: what is written in between has another stamp the next time.
    const stats = linkStatsOf(path)
    const settled = stats !== undefined && this.#isSettled(stats)
    const stamp = settled ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : undefined
    if (stamp !== undefined && stamp === before.stamp) return before
    return { path, stamp, file: this.read(path) }
  }

  #isSettled({ mtimeMs, ctimeMs }: Stats): boolean {
    return this.#clock.wallMs() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS
  }

  #forgetAllBut(names: ReadonlySet<string>): void {
    for (const name of this.#listings.keys()) {
      if (!names.has(name)) this.#listings.delete(name)
    }
  }
}

/** With the folder of its name, if that holds nothing else: names come and go, and a look goes through all the folders. */
export function removeEntry(path: string): void {
  removeQuietly(path)
  try {
    rmdirSync(dirname(path))
  } catch {
    // Others have entries there.
  }
}

/** Undefined where nothing is, or something odd: a link that leads nowhere, in circles, or where we may not look. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of a link itself: it is not followed when it is read. */
function linkStatsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** What cannot be listed holds nothing that could be believed. */
function namesIn(folder: string, limit = MAX_FILES_PER_FOLDER): string[] {
  try {
    return readdirSync(folder).slice(0, limit)
  } catch {
    return []
  }
}

function entryFilesIn(folder: string): ReadFile[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => ({ path: join(folder, name), stamp: undefined, file: { kind: 'missing' } }))
}

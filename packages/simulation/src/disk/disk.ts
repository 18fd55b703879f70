/**
 * A simulated disk: folders and files by inode, as a local file system of Linux has them. What was not synced may survive a
 * power cut, or not, each name and each content for itself; a rename is never half done.
 */
import type { Random } from '../world/random.js'
import { Inode } from './inode.js'

const MOST_NAMES = 10_000

export class Disk {
  #nextNumber = 11
  readonly root: Inode
  /** What this disk does to those who write: undefined while it is well. */
  fault: 'ENOSPC' | 'EIO' | undefined
  /** Nothing that touches it returns before this moment. */
  stuckUntilUs = 0
  /** The same few paths are looked up over and over. */
  readonly #names = new Map<string, readonly string[]>()

  constructor() {
    this.root = this.create('folder', 0o755)
  }

  create(kind: 'file' | 'folder', mode: number): Inode {
    const inode = new Inode(this.#nextNumber, kind, mode)
    this.#nextNumber += 1
    return inode
  }

  find(path: string): Inode | undefined {
    let names = this.#names.get(path)
    if (names === undefined) {
      names = namesOf(path)
      if (this.#names.size >= MOST_NAMES) this.#names.clear()
      this.#names.set(path, names)
    }
    let at: Inode | undefined = this.root
    for (const name of names) {
      if (at?.kind !== 'folder') return undefined
      at = at.entries.get(name)
    }
    return at
  }

  /** Makes a folder and those above it, at once on the platter. */
  lay(path: string): Inode {
    let at = this.root
    for (const name of namesOf(path)) {
      let below = at.entries.get(name)
      if (below === undefined) {
        below = this.create('folder', 0o700)
        at.entries.set(name, below)
      }
      at.sync()
      at = below
    }
    return at
  }

  loseWhatWasNotSynced(random: Random): void {
    this.fault = undefined
    this.stuckUntilUs = 0
    lose(this.root, random)
  }
}

export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function lose(inode: Inode, random: Random): void {
  inode.locked = undefined
  inode.watchers = []
  if (inode.kind === 'file') {
    loseContent(inode, random)
    return
  }
  for (const name of [...new Set([...inode.entries.keys(), ...inode.durableEntries.keys()])].sort()) {
    const seen = inode.entries.get(name)
    const synced = inode.durableEntries.get(name)
    const kept = seen === synced || random.chance(0.5) ? seen : synced
    if (kept === undefined) inode.entries.delete(name)
    else inode.entries.set(name, kept)
  }
  inode.durableEntries = new Map(inode.entries)
  for (const name of [...inode.entries.keys()].sort()) {
    const below = inode.entries.get(name)
    if (below !== undefined) lose(below, random)
  }
}

/** As after a real cut: the old, the new, nothing, half of it, or zeros in its place. */
function loseContent(inode: Inode, random: Random): void {
  const { data, durable } = inode
  if (durable?.equals(data)) return
  if (random.chance(0.4)) inode.data = durable ?? Buffer.alloc(0)
  else if (random.chance(0.2)) inode.data = Buffer.from(data.subarray(0, random.int(0, data.length)))
  else if (durable === undefined && random.chance(0.3)) inode.data = Buffer.alloc(data.length)
  inode.durable = inode.data
}

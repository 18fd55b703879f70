/**
 * A folder as a disk sees it: what was written and not synced may be there after a power cut, or not, whole or in part,
 * in any combination. Built from the system calls of real processes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SystemCall } from './traced.js'

/** A change that is not known to have reached the disk. */
type Pending =
  | { readonly kind: 'name'; readonly name: string; readonly file: File }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'write'; readonly file: File; readonly bytes: Buffer }

interface File {
  /** What is on the disk for sure. */
  synced: Buffer
  /** What a reader sees as long as the power is on. */
  content: Buffer
}

/** Files by name, with their bytes. */
export type Contents = ReadonlyMap<string, Buffer>

/** Beyond this, not every combination is tried. None of the operations comes near it. */
const MAX_PENDING = 10

export class DiskModel {
  /** What names lead to as long as the power is on, and after it was cut. */
  readonly #names = new Map<string, File>()
  readonly #synced = new Map<string, File>()
  #pending: Pending[] = []

  /** `folder`: the path of the folder below the one that is watched. True if the call changed what may be on the disk. */
  apply({ name, path, strings, result }: SystemCall, folder: string): boolean {
    if (result === '' || result.startsWith('-1')) return false
    const inFolder = (text: string) => text.slice(text.lastIndexOf(`${folder}/`) + folder.length + 1)
    const isFile = path.startsWith(`${folder}/`)
    const key = inFolder(path)
    switch (name) {
      case 'openat':
        return isFile && !this.#names.has(key) && this.#create(key)
      case 'pwrite64':
        return isFile && this.#write(key, Buffer.from(strings[1] ?? '', 'latin1'))
      case 'rename':
        return this.#rename(inFolder(strings[0] ?? ''), inFolder(strings[1] ?? ''))
      case 'unlink':
        return this.#remove(key)
      case 'fsync':
        if (isFile) return this.#syncFile(key)
        return path === folder && this.#syncNames()
      default:
        return false
    }
  }

  /** Everything that may be found when the power comes back. */
  *afterPowerCut(): Generator<Contents> {
    if (this.#pending.length > MAX_PENDING) throw new Error(`${this.#pending.length} changes are not synced`)
    for (let chosen = 0; chosen < 2 ** this.#pending.length; chosen++) {
      const changes = this.#pending.filter((_, nth) => chosen & (1 << nth))
      for (const torn of ['whole', 'half', 'zeros', 'empty'] as const) {
        if (torn !== 'whole' && !changes.some(({ kind }) => kind === 'write')) continue
        yield this.#after(changes, torn)
      }
    }
  }

  #after(changes: readonly Pending[], torn: 'whole' | 'half' | 'zeros' | 'empty'): Contents {
    const names = new Map(this.#synced)
    const written = new Map<File, Buffer>()
    for (const change of changes) {
      if (change.kind === 'name') names.set(change.name, change.file)
      else if (change.kind === 'remove') names.delete(change.name)
      else if (change.kind === 'write') written.set(change.file, tornTo(torn, change))
      else {
        const file = names.get(change.from)
        if (file === undefined) continue
        names.set(change.to, file)
        names.delete(change.from)
      }
    }
    return new Map([...names].map(([name, file]) => [name, written.get(file) ?? file.synced]))
  }

  #create(name: string): true {
    const file = { synced: Buffer.alloc(0), content: Buffer.alloc(0) }
    this.#names.set(name, file)
    this.#pending.push({ kind: 'name', name, file })
    return true
  }

  #write(name: string, bytes: Buffer): boolean {
    const file = this.#names.get(name)
    if (file === undefined) throw new Error(`a write to ${name}, which is not there`)
    file.content = bytes
    this.#pending.push({ kind: 'write', file, bytes })
    return true
  }

  #rename(from: string, to: string): true {
    const file = this.#names.get(from)
    if (file === undefined) throw new Error(`${from} was renamed, which is not there`)
    this.#names.delete(from)
    this.#names.set(to, file)
    this.#pending.push({ kind: 'rename', from, to })
    return true
  }

  #remove(name: string): true {
    this.#names.delete(name)
    this.#pending.push({ kind: 'remove', name })
    return true
  }

  #syncFile(name: string): true {
    const file = this.#names.get(name)
    if (file !== undefined) {
      file.synced = file.content
      this.#pending = this.#pending.filter((change) => change.kind !== 'write' || change.file !== file)
    }
    return true
  }

  #syncNames(): true {
    this.#synced.clear()
    for (const [name, file] of this.#names) this.#synced.set(name, file)
    this.#pending = this.#pending.filter(({ kind }) => kind === 'write')
    return true
  }
}

/** A write that the power cut met halfway. In place, the second half is what was there before. */
function tornTo(
  how: 'whole' | 'half' | 'zeros' | 'empty',
  { file, bytes }: { file: File; bytes: Buffer }
): Buffer {
  if (how === 'whole') return bytes
  if (how === 'empty') return Buffer.alloc(0)
  if (how === 'zeros') return Buffer.alloc(bytes.length)
  const half = Math.floor(bytes.length / 2)
  return Buffer.concat([bytes.subarray(0, half), file.synced.subarray(half)])
}

export function writeContents(folder: string, contents: Contents): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, bytes] of contents) writeFileSync(join(folder, name), bytes)
}

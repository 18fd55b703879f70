/** The calls of node:fs on open files: open, close, read, write, sync, stat, flock. */
import { constants } from 'node:fs'
import { isProc, procText } from '../proc-files.js'
import { type StatOptions, statsOf } from '../stats.js'
import { nameOf, type Place } from './place.js'

const FLAGS: Readonly<Record<string, number>> = { r: constants.O_RDONLY, 'r+': constants.O_RDWR }
const WRITING = constants.O_WRONLY | constants.O_RDWR

export type Descriptors = ReturnType<typeof descriptorsOf>

export function descriptorsOf(place: Place) {
  const { thread, process, host } = place
  const { disk, observer } = host

  function openSync(path: string, flags: number | string = 'r', mode = 0o666): number {
    place.enter(path)
    const bits = typeof flags === 'number' ? flags : (FLAGS[flags] ?? constants.O_RDONLY)
    const descriptor = process.newDescriptor()
    if (isProc(path) || path === '/dev/null') {
      const text = path === '/dev/null' ? Buffer.alloc(0) : procText(path, process)
      if (text === undefined) throw place.fail('ENOENT', 'open', path)
      process.files.set(descriptor, { text, at: 0 })
      return descriptor
    }
    let inode = place.find(path)
    if (inode === undefined) {
      if ((bits & constants.O_CREAT) === 0) throw place.fail('ENOENT', 'open', path)
      const folder = place.parentOf(path, 'open')
      place.writable('open', path)
      inode = disk.create('file', mode)
      folder.entries.set(nameOf(path), inode)
    } else if ((bits & constants.O_EXCL) !== 0 && (bits & constants.O_CREAT) !== 0) {
      throw place.fail('EEXIST', 'open', path)
    }
    if (inode.kind === 'folder' && (bits & WRITING) !== 0) throw place.fail('EISDIR', 'open', path)
    process.files.set(descriptor, { inode, path, append: (bits & constants.O_APPEND) !== 0 })
    return descriptor
  }

  function closeSync(descriptor: number): void {
    // Not a place to be held up: what is closed is not known to be, and a dead process has closed everything.
    const file = process.files.get(descriptor)
    if (file === undefined) return
    process.files.delete(descriptor)
    if ('inode' in file && file.inode.locked === file) file.inode.locked = undefined
    thread.enter('inode' in file)
  }

  function readSync(
    descriptor: number,
    buffer: Uint8Array,
    offset = 0,
    length = buffer.byteLength - offset,
    position: number | null = null
  ): number {
    const file = place.opened(descriptor, 'read')
    thread.enter('inode' in file)
    const isFile = 'inode' in file
    if (isFile && file.inode.kind === 'folder') throw place.fail('EISDIR', 'read')
    const data = isFile ? file.inode.data : file.text
    const from = position ?? (isFile ? 0 : file.at)
    const read = Math.max(0, Math.min(length, data.length - from))
    data.copy(buffer, offset, from, from + read)
    if (!isFile && position === null) file.at += read
    return read
  }

  function writeSync(
    descriptor: number,
    data: Uint8Array | string,
    offset = 0,
    length?: number,
    position?: number | null
  ): number {
    const file = place.openedFile(descriptor, 'write')
    thread.enter(true)
    place.writable('write', file.path)
    const bytes =
      typeof data === 'string'
        ? Buffer.from(data)
        : Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const part = bytes.subarray(offset, offset + (length ?? bytes.length - offset))
    const { inode } = file
    inode.write(file.append ? inode.data.length : (position ?? 0), part)
    inode.mtimeMs = host.wallMs
    observer.written(process, file, part)
    inode.tell('change')
    return part.length
  }

  return {
    openSync,
    closeSync,
    readSync,
    writeSync,
    fstatSync(descriptor: number, options?: StatOptions) {
      const file = place.openedFile(descriptor, 'fstat')
      thread.enter(true)
      return statsOf(file.inode, options?.bigint === true)
    },
    fsyncSync(descriptor: number) {
      const file = place.openedFile(descriptor, 'fsync')
      thread.enter(true)
      place.writable('fsync', file.path)
      process.writes--
      file.inode.sync()
    },
    flockSync(descriptor: number, operation: string) {
      const file = place.openedFile(descriptor, 'flock')
      thread.enter(true)
      if (operation !== 'exnb') throw place.fail('EINVAL', 'flock')
      const { inode } = file
      if (inode.locked !== undefined && inode.locked !== file) throw place.fail('EAGAIN', 'flock', file.path)
      inode.locked = file
      observer.locked(process, file)
    }
  }
}

/** node:fs, as far as the packages use it, on the simulated disk of the host on which the thread runs. */
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import type { Inode, OpenFile } from '../disk/inode.js'
import type { Thread } from '../kernel/thread.js'
import { isProc, procFolder, procLink, procText } from './proc-files.js'
import { statsOf } from './stats.js'
import { systemError } from './system-error.js'

type Options = { bigint?: boolean; throwIfNoEntry?: boolean } | undefined

const FLAGS: Readonly<Record<string, number>> = { r: constants.O_RDONLY, 'r+': constants.O_RDWR }
const WRITING = constants.O_WRONLY | constants.O_RDWR

export function fileSystem(thread: Thread) {
  const { process } = thread
  const { host } = process
  const { disk, observer } = host
  const fail = (code: string, call: string, path = '') => systemError(thread, code, call, path)
  const enter = (path: string) => thread.enter(!isProc(path))

  const find = (path: string): Inode | undefined => disk.find(path)
  const present = (path: string, call: string): Inode => {
    const inode = find(path)
    if (inode === undefined) throw fail('ENOENT', call, path)
    return inode
  }
  const parentOf = (path: string, call: string): Inode => {
    const folder = find(dirname(path))
    if (folder === undefined) throw fail('ENOENT', call, path)
    if (folder.kind !== 'folder') throw fail('ENOTDIR', call, path)
    return folder
  }
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const writable = (call: string, path: string) => {
    if (disk.fault !== undefined) throw fail(disk.fault, call, path)
    process.writes++
  }
  const opened = (descriptor: number, call: string) => {
    const file = process.files.get(descriptor)
    if (file === undefined) throw fail('EBADF', call)
    return file
  }
  const openedFile = (descriptor: number, call: string): OpenFile => {
    const file = opened(descriptor, call)
    if (!('inode' in file)) throw fail('EINVAL', call)
    return file
  }

  function openSync(path: string, flags: number | string = 'r', mode = 0o666): number {
    enter(path)
    const bits = typeof flags === 'number' ? flags : (FLAGS[flags] ?? constants.O_RDONLY)
    const descriptor = process.newDescriptor()
    if (isProc(path) || path === '/dev/null') {
      const text = path === '/dev/null' ? Buffer.alloc(0) : procText(path, process)
      if (text === undefined) throw fail('ENOENT', 'open', path)
      process.files.set(descriptor, { text, at: 0 })
      return descriptor
    }
    let inode = find(path)
    if (inode === undefined) {
      if ((bits & constants.O_CREAT) === 0) throw fail('ENOENT', 'open', path)
      const folder = parentOf(path, 'open')
      writable('open', path)
      inode = disk.create('file', mode)
      folder.entries.set(nameOf(path), inode)
    } else if ((bits & constants.O_EXCL) !== 0 && (bits & constants.O_CREAT) !== 0) {
      throw fail('EEXIST', 'open', path)
    }
    if (inode.kind === 'folder' && (bits & WRITING) !== 0) throw fail('EISDIR', 'open', path)
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
    const file = opened(descriptor, 'read')
    thread.enter('inode' in file)
    const isFile = 'inode' in file
    if (isFile && file.inode.kind === 'folder') throw fail('EISDIR', 'read')
    const data = isFile ? file.inode.data : file.text
    const from = position ?? (isFile ? 0 : file.at)
    const part = data.subarray(from, from + length)
    buffer.set(part, offset)
    if (!isFile && position === null) file.at += part.length
    return part.length
  }

  function writeSync(
    descriptor: number,
    data: Uint8Array | string,
    offset = 0,
    length?: number,
    position?: number | null
  ): number {
    const file = openedFile(descriptor, 'write')
    thread.enter(true)
    writable('write', file.path)
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data)
    const part = bytes.subarray(offset, offset + (length ?? bytes.length - offset))
    const { inode } = file
    const at = file.append ? inode.data.length : (position ?? 0)
    const grown = Buffer.alloc(Math.max(inode.data.length, at + part.length))
    inode.data.copy(grown)
    part.copy(grown, at)
    inode.data = grown
    inode.mtimeMs = host.wallMs
    observer.written(process, file, part)
    inode.tell('change')
    return part.length
  }

  function renameSync(from: string, to: string): void {
    enter(from)
    const inode = present(from, 'rename')
    const target = find(to)
    if (target?.kind === 'folder' && inode.kind === 'file') throw fail('EISDIR', 'rename', to)
    writable('rename', to)
    parentOf(from, 'rename').entries.delete(nameOf(from))
    parentOf(to, 'rename').entries.set(nameOf(to), inode)
    observer.replaced(process, to, target, inode)
    target?.tell('rename')
  }

  function unlinkSync(path: string): void {
    enter(path)
    const inode = present(path, 'unlink')
    if (inode.kind === 'folder') throw fail('EISDIR', 'unlink', path)
    writable('unlink', path)
    parentOf(path, 'unlink').entries.delete(nameOf(path))
    observer.removed(process, path, inode)
    inode.tell('rename')
  }

  function statSync(path: string, options?: Options) {
    enter(path)
    const inode = find(path)
    if (inode !== undefined) return statsOf(inode, options?.bigint === true)
    if (options?.throwIfNoEntry === false) return undefined
    throw fail('ENOENT', 'stat', path)
  }

  function readFileSync(path: string | number, encoding?: BufferEncoding | { encoding?: BufferEncoding }) {
    const name = typeof encoding === 'string' ? encoding : encoding?.encoding
    const descriptor = typeof path === 'number' ? path : openSync(path)
    try {
      const file = opened(descriptor, 'read')
      const data = Buffer.from('inode' in file ? file.inode.data : file.text)
      return name === undefined ? data : data.toString(name)
    } finally {
      if (typeof path === 'string') closeSync(descriptor)
    }
  }

  function watch(path: string, _options: unknown, listener: (event: string) => void) {
    enter(path)
    const inode = present(path, 'watch')
    let closed = false
    const told = (event: 'change' | 'rename') => {
      thread.after(host.world.random.int(30, 4_000), () => {
        if (!closed) listener(event)
      })
    }
    inode.watchers.push(told)
    const entry = {
      inode,
      close: () => {
        closed = true
        inode.watchers = inode.watchers.filter((each) => each !== told)
        process.watched.delete(entry)
      }
    }
    process.watched.add(entry)
    const watcher = { close: entry.close, on: () => watcher, unref: () => watcher, ref: () => watcher }
    return watcher
  }

  return {
    constants,
    openSync,
    closeSync,
    readSync,
    writeSync,
    renameSync,
    unlinkSync,
    statSync,
    lstatSync: statSync,
    readFileSync,
    watch,
    fstatSync(descriptor: number, options?: Options) {
      const file = openedFile(descriptor, 'fstat')
      thread.enter(true)
      return statsOf(file.inode, options?.bigint === true)
    },
    fsyncSync(descriptor: number) {
      const file = openedFile(descriptor, 'fsync')
      thread.enter(true)
      writable('fsync', file.path)
      process.writes--
      file.inode.sync()
    },
    writeFileSync(path: string | number, data: string | Uint8Array) {
      if (typeof path === 'number') return void writeSync(path, data)
      const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT)
      try {
        writeSync(descriptor, data)
      } finally {
        closeSync(descriptor)
      }
    },
    mkdirSync(path: string, mode?: number | { mode?: number }) {
      enter(path)
      if (find(path) !== undefined) throw fail('EEXIST', 'mkdir', path)
      const folder = parentOf(path, 'mkdir')
      writable('mkdir', path)
      const bits = typeof mode === 'number' ? mode : (mode?.mode ?? 0o777)
      folder.entries.set(nameOf(path), disk.create('folder', bits))
    },
    readdirSync(path: string): string[] {
      enter(path)
      if (isProc(path)) {
        const names = procFolder(path, process)
        if (names === undefined) throw fail('ENOENT', 'scandir', path)
        return names
      }
      const inode = present(path, 'scandir')
      if (inode.kind !== 'folder') throw fail('ENOTDIR', 'scandir', path)
      return [...inode.entries.keys()].sort()
    },
    chmodSync(path: string) {
      enter(path)
    },
    existsSync(path: string): boolean {
      enter(path)
      return find(path) !== undefined
    },
    rmSync(path: string, options?: { force?: boolean }) {
      if (options?.force === true && find(path) === undefined) return thread.enter(true)
      unlinkSync(path)
    },
    realpathSync(path: string): string {
      enter(path)
      present(path, 'realpath')
      return path
    },
    readlinkSync(path: string): string {
      enter(path)
      const link = procLink(path, process)
      if (link === undefined) throw fail('EINVAL', 'readlink', path)
      return link
    },
    statfsSync(path: string) {
      enter(path)
      present(path, 'statfs')
      // ext4
      return { type: 0xef53 }
    },
    flockSync(descriptor: number, operation: string) {
      const file = openedFile(descriptor, 'flock')
      thread.enter(true)
      if (operation !== 'exnb') throw fail('EINVAL', 'flock')
      const { inode } = file
      if (inode.locked !== undefined && inode.locked !== file) throw fail('EAGAIN', 'flock', file.path)
      inode.locked = file
      observer.locked(process, file)
    }
  }
}

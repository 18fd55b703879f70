/** Where the calls of one thread to its file system land: paths on the disk of its host, and what is wrong with them. */
import { dirname } from 'node:path'
import type { Inode, OpenFile } from '../../disk/inode.js'
import type { Thread } from '../../kernel/thread.js'
import { isProc } from '../proc-files.js'
import { systemError } from '../system-error.js'

export class Place {
  readonly thread: Thread

  constructor(thread: Thread) {
    this.thread = thread
  }

  get process() {
    return this.thread.process
  }

  get host() {
    return this.thread.process.host
  }

  fail(code: string, call: string, path = ''): Error {
    return systemError(this.thread, code, call, path)
  }

  /** At the begin of a call that names a path. */
  enter(path: string): void {
    this.thread.enter(!isProc(path))
  }

  find(path: string): Inode | undefined {
    return this.host.disk.find(path)
  }

  present(path: string, call: string): Inode {
    const inode = this.find(path)
    if (inode === undefined) throw this.fail('ENOENT', call, path)
    return inode
  }

  parentOf(path: string, call: string): Inode {
    const folder = this.find(dirname(path))
    if (folder === undefined) throw this.fail('ENOENT', call, path)
    if (folder.kind !== 'folder') throw this.fail('ENOTDIR', call, path)
    return folder
  }

  /** Before whatever changes the disk. */
  writable(call: string, path: string): void {
    const { fault } = this.host.disk
    if (fault !== undefined) throw this.fail(fault, call, path)
    this.process.writes++
  }

  opened(descriptor: number, call: string) {
    const file = this.process.files.get(descriptor)
    if (file === undefined) throw this.fail('EBADF', call)
    return file
  }

  openedFile(descriptor: number, call: string): OpenFile {
    const file = this.opened(descriptor, call)
    if (!('inode' in file)) throw this.fail('EINVAL', call)
    return file
  }
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

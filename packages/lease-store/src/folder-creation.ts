/**
 * Making a folder and those on the way to it. Not by mkdir's own `recursive`: where nothing can be made, in /proc say, it
 * never ends.
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from './durable-file.js'
import { errnoOf, ioFault, LeaseFault } from './lease-fault.js'

/** Only the owner: who may write here may name processes to be ended. */
const MODE = 0o700

export interface FolderOptions {
  /** Whether what is made outlives a power cut: yes unless given. It costs what the disk takes. */
  readonly durable?: boolean
}

/** One that is there stays as it is. @throws LeaseFault `io`, with the path asked for, if it cannot be made or is not a folder. */
export function createFolder(folder: string, { durable = true }: FolderOptions = {}): void {
  try {
    makeWithParents(folder, durable)
  } catch (error) {
    throw ioFault('create the folder', folder, error)
  }
}

/** Step by step: the recursive mkdir of Node says ENOENT on a read-only file system. */
function makeWithParents(folder: string, durable: boolean): void {
  try {
    mkdirSync(folder, MODE)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT' && dirname(folder) !== folder) {
      makeWithParents(dirname(folder), durable)
      mkdirUnlessThere(folder)
    } else if (!isFolder(folder)) throw error
    else return
  }
  if (durable) syncName(folder)
}

/** Another process may make the same one at the same moment. */
function mkdirUnlessThere(folder: string): void {
  try {
    mkdirSync(folder, MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** An existing folder is told as EEXIST, EROFS or EISDIR, depending on the system. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Epochs must not be lost with a folder that was made just now (R10). */
function syncName(folder: string): void {
  try {
    syncFolder(dirname(folder))
  } catch (error) {
    // A folder in which we may create but not read: there is nothing more to be done.
    if (!(error instanceof LeaseFault) || error.errno !== 'EACCES') throw error
  }
}

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
const CANNOT_SYNC: readonly string[] = ['EACCES', 'EPERM', 'EINVAL', 'EROFS', 'ENOTSUP', 'EOPNOTSUPP']

export interface FolderOptions {
  /** Whether what is made outlives a power cut: yes unless given. It costs what the disk takes. */
  readonly durable?: boolean
}

/** One that is there stays as it is. @throws LeaseFault `io`, with the path asked for, if it cannot be made or is not a folder. */
export function createFolder(folder: string, { durable = true }: FolderOptions = {}): void {
  try {
    makeWithParents(folder)
    if (durable) syncNames(folder)
  } catch (error) {
    throw ioFault('create the folder', folder, error)
  }
}

/** Step by step: the recursive mkdir of Node says ENOENT on a read-only file system. */
function makeWithParents(folder: string): void {
  try {
    mkdirSync(folder, MODE)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && dirname(folder) !== folder) {
      makeWithParents(dirname(folder))
      mkdirUnlessThere(folder)
    } else if (!isFolder(folder)) throw error
  }
}

/**
 * Those that were there already, too: whoever made one may have been killed before it was synced, and nobody but us will ever
 * do it. A power cut would take everything below along, epochs that were given included (R10). What is on the disk already
 * costs next to nothing.
 */
function syncNames(folder: string): void {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) syncName(at)
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

function syncName(folder: string): void {
  try {
    syncFolder(dirname(folder))
  } catch (error) {
    // A folder in which we may create but not read, or whose file system knows no sync: there is nothing more to be done.
    if (!(error instanceof LeaseFault) || !CANNOT_SYNC.includes(error.errno ?? '')) throw error
  }
}

/** The calls of node:fs on names: what there is under a path, and how it comes, goes and moves. */
import { isProc, procFolder, procLink } from '../proc-files.js'
import { type StatOptions, statsOf } from '../stats.js'
import { nameOf, type Place } from './place.js'

export function namesIn(place: Place) {
  const { thread, process, host } = place
  const { disk, observer } = host

  function renameSync(from: string, to: string): void {
    place.enter(from)
    const inode = place.present(from, 'rename')
    const target = place.find(to)
    if (target?.kind === 'folder' && inode.kind === 'file') throw place.fail('EISDIR', 'rename', to)
    place.writable('rename', to)
    place.parentOf(from, 'rename').entries.delete(nameOf(from))
    place.parentOf(to, 'rename').entries.set(nameOf(to), inode)
    observer.replaced(process, to, target, inode)
    target?.tell('rename')
  }

  function unlinkSync(path: string): void {
    place.enter(path)
    const inode = place.present(path, 'unlink')
    if (inode.kind === 'folder') throw place.fail('EISDIR', 'unlink', path)
    place.writable('unlink', path)
    place.parentOf(path, 'unlink').entries.delete(nameOf(path))
    observer.removed(process, path, inode)
    inode.tell('rename')
  }

  function statSync(path: string, options?: StatOptions) {
    place.enter(path)
    const inode = place.find(path)
    if (inode !== undefined) return statsOf(inode, options?.bigint === true)
    if (options?.throwIfNoEntry === false) return undefined
    throw place.fail('ENOENT', 'stat', path)
  }

  return {
    renameSync,
    unlinkSync,
    statSync,
    lstatSync: statSync,
    mkdirSync(path: string, mode?: number | { mode?: number }) {
      place.enter(path)
      if (place.find(path) !== undefined) throw place.fail('EEXIST', 'mkdir', path)
      const folder = place.parentOf(path, 'mkdir')
      place.writable('mkdir', path)
      const bits = typeof mode === 'number' ? mode : (mode?.mode ?? 0o777)
      folder.entries.set(nameOf(path), disk.create('folder', bits))
    },
    readdirSync(path: string): string[] {
      place.enter(path)
      if (isProc(path)) {
        const names = procFolder(path, process)
        if (names === undefined) throw place.fail('ENOENT', 'scandir', path)
        return names
      }
      const inode = place.present(path, 'scandir')
      if (inode.kind !== 'folder') throw place.fail('ENOTDIR', 'scandir', path)
      return [...inode.entries.keys()].sort()
    },
    chmodSync(path: string) {
      place.enter(path)
    },
    existsSync(path: string): boolean {
      place.enter(path)
      return place.find(path) !== undefined
    },
    rmSync(path: string, options?: { force?: boolean }) {
      if (options?.force === true && place.find(path) === undefined) return thread.enter(true)
      unlinkSync(path)
    },
    realpathSync(path: string): string {
      place.enter(path)
      place.present(path, 'realpath')
      return path
    },
    readlinkSync(path: string): string {
      place.enter(path)
      const link = procLink(path, process)
      if (link === undefined) throw place.fail('EINVAL', 'readlink', path)
      return link
    },
    statfsSync(path: string) {
      place.enter(path)
      place.present(path, 'statfs')
      // ext4
      return { type: 0xef53 }
    }
  }
}

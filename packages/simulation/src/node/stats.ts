/** What stat(2) says of a simulated file: it belongs to the one user that there is. */
import type { Inode } from '../disk/inode.js'

export const USER = 1_000

export type StatOptions = { bigint?: boolean; throwIfNoEntry?: boolean } | undefined

export function statsOf(inode: Inode, bigint: boolean) {
  const whole = (value: number) => (bigint ? BigInt(value) : value)
  return {
    dev: whole(1),
    ino: whole(inode.number),
    size: whole(inode.data.length),
    mode: whole(inode.mode | (inode.kind === 'folder' ? 0o040000 : 0o100000)),
    uid: whole(USER),
    mtimeMs: whole(Math.floor(inode.mtimeMs)),
    isFile: () => inode.kind === 'file',
    isDirectory: () => inode.kind === 'folder',
    isSymbolicLink: () => false
  }
}

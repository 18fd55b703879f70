/** Whether a lease's word is enough to signal the processes that carry its claim (R15). */
import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/**
 * Whether only we and root can have written the lease: the file, its folder and the registry root belong to us or root
 * and nobody else can write them, and nobody else can put something in their place further up.
 *
 * `folder`: that of the lease files, directly below the registry root.
 */
export function onlyWeCanWrite(folder: string, leaseFile: string): boolean {
  const us = process.geteuid?.()
  if (us === undefined) return true
  try {
    const registryRoot = dirname(folder)
    return (
      strict(lstatSync(leaseFile, { throwIfNoEntry: false }), us) &&
      strict(lstatSync(realpathSync(folder)), us) &&
      strict(lstatSync(realpathSync(registryRoot)), us) &&
      [folder, realpathSync(folder)].every((path) => ancestorsOf(path).every((above) => fixed(above, us)))
    )
  } catch {
    // It cannot be looked at, so it is not known whose it is.
    return false
  }
}

/** A lease that is gone was released: nothing depends on it. */
function strict(stats: Stats | undefined, us: number): boolean {
  if (stats === undefined) return true
  return (stats.uid === us || stats.uid === 0) && (stats.mode & WRITABLE_BY_OTHERS) === 0
}

/** Nobody else can rename what is in it: in a sticky folder such as /tmp everyone's entries are their own. */
function fixed(path: string, us: number): boolean {
  const stats = lstatSync(path)
  if (stats.uid !== us && stats.uid !== 0) return false
  return stats.isSymbolicLink() || (stats.mode & WRITABLE_BY_OTHERS) === 0 || (stats.mode & STICKY) !== 0
}

function ancestorsOf(path: string): string[] {
  const paths: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    paths.push(at)
    if (dirname(at) === at) return paths
  }
}

/**
 * The native file lock (fs-ext). It counts as there only when it has been loaded: a missing lock must never turn into
 * no lock.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

const NATIVE_PACKAGE = 'fs-ext'
const BINARY = 'build/Release/fs_ext.node'

/** The installed copies, one per package that depends on it, without duplicates. */
function installations(packages) {
  const users = packages.filter((p) => p.manifest.dependencies?.[NATIVE_PACKAGE])
  return users.map((p) => join(p.dir, 'node_modules', NATIVE_PACKAGE))
}

/** The compiled files; the set-up is not complete without them. */
export function nativeFiles(packages) {
  const folders = installations(packages).filter((folder) => existsSync(folder))
  return [...new Set(folders.map((folder) => join(realpathSync(folder), BINARY)))]
}

/**
 * Why the native lock cannot be used, or undefined if it can. It is loaded in a process of its own: a binary made for
 * another Node may do worse than throw.
 */
export function nativeLockFault(packages) {
  for (const folder of installations(packages)) {
    if (!existsSync(folder)) return `${NATIVE_PACKAGE} is not installed`
    const probe = `if (typeof require(${JSON.stringify(folder)}).flockSync !== 'function') throw new Error('no flockSync')`
    const { status, signal, stderr } = spawnSync(process.execPath, ['-e', probe], { encoding: 'utf8' })
    if (status === 0) continue
    const reason =
      /^\w*Error: .*$/m.exec(stderr)?.[0] ?? (signal ? `killed by ${signal}` : `exit code ${status}`)
    return `${NATIVE_PACKAGE} does not load: ${reason}`
  }
  return undefined
}

/**
 * The record of the last complete set-up. Written last and atomically, removed before anything is changed: a stamp
 * that is there describes a state that was reached, whatever was interrupted since.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildFingerprint, installFingerprint } from './fingerprint.mjs'

/** @typedef {{ fingerprint: string, files: string[] }} Done What was done, and files that must still be there. */

export const setupFolder = (root) => join(root, '.setup')

const stampFile = (root, name) => join(setupFolder(root), `${name}.json`)

/** Whether this was done under the same conditions, and what it made is still there. */
export function isRemembered(root, name, fingerprint) {
  try {
    const done = JSON.parse(readFileSync(stampFile(root, name), 'utf8'))
    return done.fingerprint === fingerprint && done.files.every((file) => existsSync(join(root, file)))
  } catch {
    return false // missing or unreadable: do it again, that is always right
  }
}

/** @returns {{ installed: boolean, built: boolean }} */
export function stateOf(root, packages) {
  return {
    installed: isRemembered(root, 'installed', installFingerprint(root, packages)),
    built: isRemembered(root, 'built', buildFingerprint(root, packages))
  }
}

export function forget(root, name) {
  rmSync(stampFile(root, name), { force: true })
}

/** @param {Done} done */
export function remember(root, name, done) {
  mkdirSync(setupFolder(root), { recursive: true })
  const temporary = `${stampFile(root, name)}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(done)}\n`)
  renameSync(temporary, stampFile(root, name))
}

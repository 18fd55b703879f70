/**
 * Where the packages of this workspace are: read from pnpm-workspace.yaml, so that a new package is found by the
 * build, the checks and the tests without a list to maintain.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ dir: string, path: string, manifest: Record<string, any> }} WorkspacePackage `path` is relative, with slashes */

export const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)))

/** The patterns under `packages:`. Only `folder/*` is used here, and anything else is an error, not a guess. */
function packageFolders(root) {
  /** @type {string[]} */
  const folders = []
  let inside = false
  for (const line of readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8').split(/\r?\n/)) {
    if (/^\S/.test(line)) inside = line.startsWith('packages:')
    const item = inside && /^\s+-\s*['"]?([^'"\s]+)/.exec(line)
    if (!item) continue
    const folder = /^([\w-]+)\/\*$/.exec(item[1])
    if (!folder)
      throw new Error(`pnpm-workspace.yaml: only patterns like packages/* are supported, not ${item[1]}`)
    folders.push(folder[1])
  }
  return folders
}

/**
 * Every folder with a package.json, sorted by path.
 *
 * @param {string} root
 * @returns {WorkspacePackage[]}
 */
export function workspacePackages(root = repositoryRoot) {
  const found = []
  for (const folder of packageFolders(root)) {
    if (!existsSync(join(root, folder))) continue
    for (const name of readdirSync(join(root, folder)).sort()) {
      const dir = join(root, folder, name)
      const manifestFile = join(dir, 'package.json')
      if (!existsSync(manifestFile)) continue
      const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'))
      found.push({ dir, path: `${folder}/${name}`, manifest })
    }
  }
  return found
}

/**
 * What an installation and a build depend on, in a form that costs a few milliseconds to compare: contents of the
 * lockfile and manifests, path, size and time of the sources.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const INSTALL_INPUTS = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']
const BUILD_INPUTS = ['turbo.json', 'tsup.base.ts', 'tsconfig.base.json']
const PACKAGE_BUILD_INPUTS = ['package.json', 'tsup.config.ts', 'tsconfig.json']

/** Files under a folder, as paths relative to `root` with slashes, sorted; none if the folder does not exist. */
export function filesUnder(root, path) {
  let entries
  try {
    entries = readdirSync(join(root, path), { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
  const files = entries.flatMap((entry) => {
    const child = `${path}/${entry.name}`
    return entry.isDirectory() ? filesUnder(root, child) : [child]
  })
  return files.sort()
}

/** Changes when dependencies have to be installed anew; the native lock is compiled for one ABI and one place. */
export function installFingerprint(root, packages) {
  const hash = createHash('sha256')
  hash.update(`${process.platform} ${process.arch} ${process.versions.modules} ${root}\n`)
  for (const file of [...INSTALL_INPUTS, ...packages.map((p) => `${p.path}/package.json`)]) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** Changes when something has to be built anew. */
export function buildFingerprint(root, packages) {
  const files = [
    ...BUILD_INPUTS,
    ...packages.flatMap((p) => PACKAGE_BUILD_INPUTS.map((name) => `${p.path}/${name}`)),
    ...packages.flatMap((p) => filesUnder(root, `${p.path}/src`))
  ]
  const lines = files.map((file) => {
    const stat = statSync(join(root, file), { throwIfNoEntry: false })
    return `${file} ${stat?.size} ${stat?.mtimeMs}\n`
  })
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** Every published package of the workspace as the tarball that a registry would get. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pnpmCommand } from '../../scripts/setup/pnpm-command.mjs'
import { repositoryRoot, workspacePackages } from '../../scripts/workspace.mjs'

export const publishedPackages = workspacePackages().filter((p) => p.manifest.private !== true)

/** Packs all of them with the pinned pnpm, as a release would. The folder, to be removed afterwards. */
export async function packAll(): Promise<string> {
  const pnpm = await pnpmCommand(repositoryRoot)
  const folder = mkdtempSync(join(tmpdir(), 'packed-'))
  execFileSync(pnpm.command, ['-r', 'pack', '--pack-destination', folder], {
    cwd: repositoryRoot,
    env: pnpm.env(),
    shell: process.platform === 'win32',
    stdio: 'pipe'
  })
  return folder
}

/** The tarballs that `packAll` has left in a folder. */
export class PackedPackages {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  tarball(name: string): string {
    const files = readdirSync(this.#folder)
    const prefix = `${name.replace('@', '').replace('/', '-')}-`
    const file = files.find(
      (candidate) => candidate.startsWith(prefix) && /^\d/.test(candidate.slice(prefix.length))
    )
    if (file === undefined) throw new Error(`${name} was not packed; there are ${files.join(', ')}`)
    return join(this.#folder, file)
  }
}

/** Paths and texts of a tarball, without the leading `package/`. */
export function tarballFiles(tarball: string): string[] {
  const listing = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
  return listing
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
}

export function tarballText(tarball: string, path: string): string {
  return execFileSync('tar', ['-xzOf', tarball, `package/${path}`], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024
  })
}

/** The package and those of ours below it, which no registry has yet. */
export function withOwnDependencies(name: string): string[] {
  const found = new Set<string>()
  const add = (each: string) => {
    const manifest = publishedPackages.find((p) => p.manifest.name === each)?.manifest
    if (manifest === undefined || found.has(each)) return
    found.add(each)
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency)
  }
  add(name)
  return [...found]
}

/** A project of somebody else, in which nothing but the given tarballs is installed, by plain npm. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileEnvironment } from '../../scripts/setup/toolchain.mjs'
import { environmentOutsideNpm } from '../../scripts/start/leave-npm.mjs'
import { repositoryRoot } from '../../scripts/workspace.mjs'

export interface InstalledPackage {
  /** Where npm put it, `node_modules/fs-ext` for one. */
  readonly path: string
  readonly hasInstallScript: boolean
}

export interface EmptyProject {
  readonly folder: string
  run(command: string, args: readonly string[]): { code: number | null; output: string }
  write(file: string, text: string): void
  installed(): InstalledPackage[]
  remove(): void
}

export function emptyProject(): EmptyProject {
  const folder = mkdtempSync(join(tmpdir(), 'consumer-'))
  const env = compileEnvironment(environmentOutsideNpm(repositoryRoot))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  return {
    folder,
    run(command, args) {
      const shell = process.platform === 'win32'
      const { status, stdout, stderr, error } = spawnSync(command, args, {
        cwd: folder,
        env,
        encoding: 'utf8',
        shell
      })
      return { code: status, output: error ? error.message : stdout + stderr }
    },
    write: (file, text) => writeFileSync(join(folder, file), text),
    installed() {
      const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
      return Object.entries<{ hasInstallScript?: boolean }>(lock.packages)
        .filter(([path]) => path !== '')
        .map(([path, { hasInstallScript = false }]) => ({ path, hasInstallScript }))
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

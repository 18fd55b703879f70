/**
 * The pinned pnpm, on machines that have none: fetched by npx once, then found again by its path, because npx asks the
 * registry each time and hangs for a minute where it cannot.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setupFolder } from './stamp.mjs'
import { runStep } from './step.mjs'

const printPath = fileURLToPath(new URL('print-program-path.mjs', import.meta.url))

/** The version in the manifest's `packageManager`, without its checksum. */
export function pinnedVersion(root) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const version = /^pnpm@([^+]+)/.exec(packageManager ?? '')?.[1]
  if (!version) throw new Error('package.json: "packageManager" must name a pnpm version, as in pnpm@12.21.0')
  return version
}

async function fetchPnpm(root, version, started) {
  const output = await runStep('fetching pnpm', {
    command: 'npx',
    args: ['--yes', '--loglevel=error', `--package=pnpm@${version}`, '--', 'node', printPath, 'pnpm'],
    cwd: root,
    started
  })
  const found = /^program: (.+)$/m.exec(output)?.[1]
  if (!found) throw new Error(`npx fetched pnpm@${version} but did not put it on the PATH`)
  return found
}

/**
 * @param {string} root
 * @param {(pid: number) => void} [started] told the pid of npx, if it is needed
 * @returns {Promise<{ command: string, env: (base?: NodeJS.ProcessEnv) => NodeJS.ProcessEnv }>} `env` puts this pnpm
 *   first on the PATH: turbo starts the packages' scripts through it.
 */
export async function pnpmCommand(root, started) {
  const version = pinnedVersion(root)
  const remembered = join(setupFolder(root), `pnpm-${version}.path`)
  let command = existsSync(remembered) ? readFileSync(remembered, 'utf8') : ''
  if (!existsSync(command)) {
    command = await fetchPnpm(root, version, started)
    mkdirSync(setupFolder(root), { recursive: true })
    writeFileSync(remembered, command)
  }
  return {
    command,
    env: (base = process.env) => ({ ...base, PATH: `${dirname(command)}${delimiter}${base.PATH ?? ''}` })
  }
}

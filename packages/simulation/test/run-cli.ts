/** Runs the built programs of this package as a person would. */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const DIST = join(dirname(fileURLToPath(import.meta.url)), '../dist')

export interface Ran {
  readonly code: number | null
  readonly lines: readonly string[]
}

export function runCli(
  program: 'cli' | 'mutations-cli' | 'scale-cli',
  args: readonly string[]
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(DIST, `${program}.js`), ...args], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, lines: text.trimEnd().split('\n') }))
  })
}

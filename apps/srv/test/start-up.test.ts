/** What is loaded to run a command: nothing of the daemon's, so that a run starts as fast as it ever did. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CLI } from './harness/scene.js'

const DIST = dirname(CLI)
/** As only the web server has it in its code. */
const WEB_SERVER = 'FST_ERR_'

/** A file and all that it loads whatever is asked of it. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const code = readFileSync(join(DIST, file), 'utf8')
  for (const [, other = ''] of code.matchAll(/^(?:import|export)\b[^;]*?["']\.\/([^"']+\.js)["']/gm)) {
    loadedWith(other, seen)
  }
  return seen
}

function codeOf(files: Iterable<string>): string {
  return [...files].map((file) => readFileSync(join(DIST, file), 'utf8')).join('\n')
}

function chunk(name: string): string {
  const file = readdirSync(DIST).find((one) => new RegExp(`^${name}-[A-Z0-9]+\\.js$`).test(one))
  if (file === undefined) throw new Error(`there is no ${name} in ${DIST}`)
  return file
}

describe('the program', () => {
  test('loads no web server for a run, and has one for the daemon', () => {
    expect(codeOf(loadedWith('cli.js'))).not.toContain(WEB_SERVER)
    expect(codeOf(loadedWith(chunk('run')))).not.toContain(WEB_SERVER)
    expect(codeOf(loadedWith(chunk('serve')))).toContain(WEB_SERVER)
  })
})

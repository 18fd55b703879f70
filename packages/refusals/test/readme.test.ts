import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { EXIT_CODES, REFUSAL_MARKERS } from '../src/index.js'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README', () => {
  it('shows an example that the built package runs, with the output it prints', () => {
    const [, example, output] = /```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(readme) ?? []
    const ran = spawnSync(process.execPath, ['--input-type=module', '-'], {
      cwd: packageFolder,
      input: example ?? '',
      encoding: 'utf8'
    })
    expect(ran.stderr).toBe('')
    expect(ran.stdout).toBe(output)
  })

  it('documents every exit code and every marker', () => {
    for (const [name, code] of Object.entries(EXIT_CODES)) {
      expect(readme).toContain(String(code))
      expect(readme).toContain(`\`${name}\``)
    }
    for (const marker of REFUSAL_MARKERS) expect(readme).toContain(`\`${marker}\``)
  })
})

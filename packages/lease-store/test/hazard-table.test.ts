/** The table in README.md names tests that exist, by the words of their titles. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const repository = (path: string) => here(`../../../${path}`)

const rows = readFileSync(here('README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => line.slice(2, -2).split(' | ') as [string, string])

/** Each file with the titles that follow it. */
function testsIn(cell: string): [string, string[]][] {
  return [...cell.matchAll(/`([\w./-]+\.test\.ts)` ((?:"[^"]+"(?:, )?)+)/g)].map(
    ([, file = '', titles = '']) => [file, [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title)]
  )
}

describe('the table of hazards', () => {
  it.each(rows)('names tests that are there: %s', (_, cell) => {
    const tests = testsIn(cell)
    expect(tests.length).toBeGreaterThan(0)
    for (const [file, titles] of tests) {
      const source = readFileSync(
        file.startsWith('packages/') || file.startsWith('apps/') ? repository(file) : here(file),
        'utf8'
      )
      for (const title of titles) expect(source).toContain(title)
    }
  })

  it('has a row for everything', () => {
    expect(rows.length).toBeGreaterThan(40)
  })
})

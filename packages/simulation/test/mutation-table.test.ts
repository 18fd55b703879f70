import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCli } from './run-cli.js'

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..')
const ROW =
  /^\| (?<number>\d\d) +\| (?<fault>[^|]+?) +\| +(?<seeds>\d+|not found) +\| (?<rule>R\d+|messages)? +\|$/

const rows = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const { number, seeds, rule } = ROW.exec(line)?.groups ?? {}
    return number === undefined ? [] : [{ number, seeds, rule }]
  })
const patches = readdirSync(join(PACKAGE, 'mutations')).sort()

test('the table has a row for each fault, and each was found', () => {
  expect(rows.map(({ number }) => number)).toEqual(patches.map((name) => name.slice(0, 2)))
  for (const { seeds, rule } of rows) {
    expect(Number(seeds)).toBeGreaterThan(0)
    expect(rule).toBeDefined()
  }
})

/** A change of the packages changes every history, and the figure a little: it is not held to the letter. */
const boundOf = (seeds: string | undefined) => String(4 * Number(seeds) + 10)

// One of each tier; the others take longer: `npm run simulate -- mutations` runs them all.
test.each(['07', '18', '21'])(
  'fault %s is found in about as many seeds as the table says',
  async (number) => {
    const row = rows.find((each) => each.number === number)
    const { code, lines } = await runCli('mutations-cli', [`${number}-`, '--seeds', boundOf(row?.seeds)])
    expect(lines[0]).toMatch(new RegExp(` \\d+ seeds {2}${row?.rule}: `))
    expect(code).toBe(0)
  }
)

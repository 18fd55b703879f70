import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCli } from './run-cli.js'

const PLANS = join(dirname(fileURLToPath(import.meta.url)), 'plans')

/** Histories in which something was found once. Each file is named after what it was. */
test.each(readdirSync(PLANS))('never again: %s', async (name) => {
  const { code, lines } = await runCli('cli', ['--plans', join(PLANS, name), '--keep-going'])
  expect(lines.at(-1)).toMatch(/ 0 violations, /)
  expect(code).toBe(0)
})

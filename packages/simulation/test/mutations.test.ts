import { expect, test } from 'vitest'
import { runCli } from './run-cli.js'

test('finds a fault that was made on purpose, and says how many seeds it took', async () => {
  const { code, lines } = await runCli('mutations-cli', ['--seeds', '20', '01-', '08-'])
  expect(lines.at(-1)).toBe('2 of 2 faults found')
  expect(lines[0]).toMatch(/^epoch not bumped on expiry +\d+ seeds {2}R10: /)
  expect(code).toBe(0)
})

test('says so where a fault stays unnoticed', async () => {
  const { code, lines } = await runCli('mutations-cli', ['--seeds', '0', '01-'])
  expect(lines[0]).toMatch(/UNNOTICED {2}not found in 0 seeds/)
  expect(code).toBe(1)
})

test('says how it is used where an option cannot be', async () => {
  expect(await runCli('mutations-cli', ['--help'])).toMatchObject({ code: 0 })
  expect(await runCli('mutations-cli', ['--seeds', 'many'])).toMatchObject({ code: 64 })
  expect(await runCli('mutations-cli', ['--seed', '3'])).toMatchObject({ code: 64 })
})

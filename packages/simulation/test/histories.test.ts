import { describe, expect, test } from 'vitest'
import { runCli } from './run-cli.js'

const digests = async (args: readonly string[]) => {
  const { lines } = await runCli('cli', [...args, '--json'])
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).digest as string)
}

describe('a seed is a history', () => {
  test.each([
    ['one host', ['--hosts', '1']],
    ['a LAN', ['--hosts', '2', '--tier', 'lan']],
    ['a relay', ['--hosts', '2', '--tier', 'relay']]
  ])('the same one each time, on %s; another seed is another', async (_name, shape) => {
    const [both, second] = await Promise.all([
      digests(['--first', '7', '--seeds', '2', ...shape]),
      digests(['--first', '8', '--seeds', '1', ...shape])
    ])
    expect(both).toHaveLength(2)
    expect(second).toEqual([both[1]])
    expect(both[0]).not.toBe(both[1])
  })
})

describe('a short run', () => {
  test.each([
    ['one host', ['--hosts', '1', '--seeds', '6']],
    ['a LAN', ['--hosts', '3', '--tier', 'lan', '--seeds', '2', '--first', '21']],
    ['a relay', ['--hosts', '3', '--tier', 'relay', '--seeds', '2', '--first', '21']]
  ])('finds nothing on %s', async (_name, args) => {
    const { code, lines } = await runCli('cli', args)
    expect(lines.at(-1)).toMatch(/ 0 violations, /)
    expect(code).toBe(0)
  })
})

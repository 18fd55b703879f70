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
    ['a relay', ['--hosts', '2', '--tier', 'relay']],
    ['a relay with messages', ['--hosts', '2', '--messages']],
    ['a LAN with an older build', ['--hosts', '2', '--older', '1']]
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

test('is the same history in however many processes, told in the order of the seeds', async () => {
  const shape = ['--first', '3', '--seeds', '4', '--hosts', '2', '--tier', 'lan']
  const [alone, two] = await Promise.all([
    runCli('cli', [...shape, '--json', '--jobs', '1']),
    runCli('cli', [...shape, '--json', '--jobs', '2'])
  ])
  expect(alone.lines).toHaveLength(5)
  expect(two.lines.slice(0, 4)).toEqual(alone.lines.slice(0, 4))
})

describe('a short run', () => {
  test.each([
    ['one host', ['--hosts', '1', '--seeds', '6']],
    ['a LAN', ['--hosts', '3', '--tier', 'lan', '--seeds', '2', '--first', '21']],
    ['a relay', ['--hosts', '3', '--tier', 'relay', '--seeds', '2', '--first', '21']],
    ['one host with an older build', ['--hosts', '1', '--older', '1', '--seeds', '4']],
    ['a LAN with older builds', ['--hosts', '3', '--older', '2', '--seeds', '2']]
  ])('finds nothing on %s', async (_name, args) => {
    const { code, lines } = await runCli('cli', args)
    expect(lines.at(-1)).toMatch(/ 0 violations, /)
    expect(code).toBe(0)
  })
})

test('messages for agents: each is delivered once, or what became of it is told', async () => {
  const { code, lines } = await runCli('cli', ['--messages', '--hosts', '2', '--first', '2', '--seeds', '3'])
  const [, sent = 0, delivered = 0, lost = 0, waiting = 0] = (
    /; (\d+) messages: (\d+) delivered, (\d+) lost with who died, (\d+) waiting$/.exec(lines.at(-1) ?? '') ??
    []
  ).map(Number)
  expect(lines.at(-1)).toMatch(/ 0 violations, /)
  expect(delivered).toBeGreaterThan(0)
  expect(delivered + lost + waiting).toBe(sent)
  expect(code).toBe(0)
})

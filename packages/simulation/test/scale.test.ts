import { describe, expect, test } from 'vitest'
import { runCli } from './run-cli.js'

interface Counted {
  readonly violation: unknown
  readonly before: Readonly<Record<string, number>>
  readonly rows: readonly { route: string; count: number; least: number; most: number }[]
}

/** Two virtual minutes of four hosts with two agents each. */
async function counted(tier: string): Promise<Counted> {
  const { code, lines } = await runCli('scale-cli', [
    ...['--hosts', '4', '--agents', '8', '--minutes', '2', '--tier', tier, '--json']
  ])
  expect(code).toBe(0)
  return JSON.parse(lines[0] ?? '')
}

describe('a steady herd asks as often as the protocol says', () => {
  test('on a LAN: each host every other one in every look, all its agents in one question', async () => {
    const { violation, before, rows } = await counted('lan')
    expect(violation).toBeNull()
    expect(rows.map(({ route }) => route)).toEqual(['POST /agentmux/agent/holdings'])
    // 4 or 5 looks of 4 hosts at 3 others.
    expect(rows[0]).toMatchObject({ least: 36, most: 60 })
    expect(rows[0]?.count).toBeGreaterThanOrEqual(36)
    expect(rows[0]?.count).toBeLessThanOrEqual(60)
    // The early check of each agent asks all the others, at the least.
    expect(before['POST /agentmux/agent/holdings']).toBeGreaterThanOrEqual(8 * 3)
  })

  test('at a relay: one batch for each host and tick, and one claim for each agent', async () => {
    const { violation, before, rows } = await counted('relay')
    expect(violation).toBeNull()
    expect(rows.map(({ route }) => route)).toEqual(['POST /agents/lease/renew-batch'])
    expect(rows[0]).toMatchObject({ least: 20, most: 28 })
    expect(rows[0]?.count).toBeGreaterThanOrEqual(20)
    expect(rows[0]?.count).toBeLessThanOrEqual(28)
    expect(before['POST /agents/lease']).toBe(8)
    expect(before['GET /agents/lease/:agent']).toBe(8)
  })
})

test('says what it takes for what it cannot read', async () => {
  const { code } = await runCli('scale-cli', ['--hosts', 'many'])
  expect(code).toBe(64)
})

/** How long it takes until somebody new is seen, and until somebody new sees who is there. */
import { afterAll, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../../test/net/index.js'
import { DiscoveringHost } from '../harness/discovering-host.js'

const ROUNDS = 15
const network = VirtualNetwork.create()
afterAll(() => network.remove())

const sorted = (values: readonly number[]) => [...values].sort((x, y) => x - y)
const at = (values: readonly number[], part: number) =>
  Math.round(sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN)

test('discovery time', { timeout: 100_000 }, async () => {
  const mill = network.addHost({ hostname: 'mill' })
  const barn = network.addHost({ hostname: 'barn' })
  const resident = await DiscoveringHost.start(mill, { port: 5001 })
  const isSeen: number[] = []
  const sees: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const instanceId = `barn-${round}`
    const since = resident.said.length
    const newcomer = await DiscoveringHost.start(barn, { port: 6_000 + round, instanceId })
    const startedAt = performance.now()
    await Promise.all([
      resident
        .waitFor(({ kind, peer }) => kind === 'peer-seen' && peer?.instanceId === instanceId, since)
        .then(() => isSeen.push(performance.now() - startedAt)),
      newcomer
        .waitFor(({ kind, peer }) => kind === 'peer-seen' && peer?.instanceId === 'mill/5001')
        .then(() => sees.push(performance.now() - startedAt))
    ])
    await newcomer.close()
  }
  for (const [what, values] of Object.entries({ 'a newcomer is seen': isSeen, 'a newcomer sees': sees })) {
    process.stdout.write(
      `${what} after ${at(values, 0.5)} ms (median), ${at(values, 0.99)} ms (slowest of ${ROUNDS})\n`
    )
  }
  expect(isSeen.length).toBe(ROUNDS)
})

/** How much idle instances say: bounded, however long they run. Measured on real sockets by `bench/lan/bench.mjs idle-packets`. */
import { expect, test } from 'vitest'
import { StubNetwork } from './harness/stub-network.js'

test('five instances send few packets in their first minute, and hardly any in the nine after it', async () => {
  const network = new StubNetwork()
  for (let count = 0; count < 5; count++) await network.add()
  await network.clock.advance(60_000)
  for (const { discovery } of network.hosts) expect(discovery.peers.list().length).toBe(4)
  expect(network.forAll).toBeLessThan(300)

  network.forAll = 0
  await network.clock.advance(9 * 60_000)
  expect(network.forAll).toBeGreaterThan(0)
  expect(network.forAll).toBeLessThan(9 * 10)
  for (const { discovery } of network.hosts) expect(discovery.peers.list().length).toBe(4)
  for (const { discovery } of network.hosts) await discovery.close()
  expect(network.clock.pendingTimers).toBe(0)
})

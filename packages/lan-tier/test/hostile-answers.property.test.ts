import { createSystemClock } from '@agentmux/lease-model'
import { describe, expect, it } from 'vitest'
import { startHostilePeers } from '../../../bench/lan-holdings/hostile-peers.mjs'
import { seededRandom } from '../../../bench/measuring/seeded-random.mjs'
import { LanHoldings, LanSecret } from '../src/index.js'

/** Another one at every run; a failure names it. The same in a hundred thousand: bench/lan-holdings/fuzz.mjs. */
const seed = Math.floor(Math.random() * 1_000_000_000)

describe('peers that answer with noise', () => {
  it.each([
    ['without a secret', undefined],
    ['with one', new LanSecret('a secret of this network')]
  ])('are no evidence and no fault, %s', async (_, secret) => {
    const hostile = await startHostilePeers(40, seededRandom(seed))
    const holdings = new LanHoldings({
      peers: () => hostile.peers,
      hostname: 'mill',
      ownLease: () => undefined,
      clock: createSystemClock(),
      loopback: true,
      timeoutMs: 500,
      ...(secret === undefined ? {} : { secret })
    })
    try {
      for (let round = 0; round < 25; round++) {
        const look = await holdings.lanHolders('u')
        expect(look.holders, `seed ${seed}`).toEqual([])
        expect(look.answered, `seed ${seed}`).toBe(0)
        expect(look.silent).toHaveLength(40)
      }
      await holdings.close()
      while (hostile.open > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    } finally {
      await hostile.close()
    }
  })
})

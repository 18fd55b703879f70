import { describe, expect, it } from 'vitest'
import { simulateRound, simulateRounds } from '../../../bench/lan-tie-break/simulation.mjs'
import { Contest, decide, peerWins } from '../src/index.js'

const rules = { Contest, decide, peerWins }
/** Another one at every run; a failure names the round that can be run again. */
const seed = Math.floor(Math.random() * 1_000_000_000)

describe('rounds with a fifth of all answers lost', () => {
  it.each([2, 3, 5, 8])('%d hosts: an agent never ends up driven by nobody', (hosts) => {
    for (let round = 0; round < 1_500; round++) {
      const survivors = simulateRound(rules, { hosts, seed: seed + round })
      expect(Math.min(...survivors), `hosts ${hosts}, seed ${seed + round}`).toBeGreaterThan(0)
    }
  })

  it('without lost answers one is left after one re-check', () => {
    for (const hosts of [2, 3, 5, 8]) {
      for (let round = 0; round < 300; round++) {
        const [left] = simulateRound(rules, { hosts, loss: 0, seed: seed + round })
        expect(left, `hosts ${hosts}, seed ${seed + round}`).toBeGreaterThan(0)
      }
    }
  })

  it('the simulation does find the circle in which members of the pairwise rule all yield', () => {
    const { nobody } = simulateRounds(rules, { hosts: 8, older: 8, rounds: 3_000, seed: 1 })
    expect(nobody.at(-1)).toBeGreaterThan(0)
  })
})

/** Computers that start one agent without knowing of each other: exactly one goes on. All orders are in bench/lan. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../test/net/index.js'
import { type Herd, runHerds } from './harness/herd.js'
import { LanComputer } from './harness/lan-computer.js'
import { Scene } from './harness/scene.js'

let network: VirtualNetwork
let computers: LanComputer[]

beforeEach(() => {
  network = VirtualNetwork.create()
  computers = []
})

afterEach(async () => {
  await Promise.all(computers.map(({ scene }) => scene.close()))
  await network.remove()
})

async function served(...names: string[]): Promise<LanComputer[]> {
  computers = names.map((hostname) => new LanComputer(network.addHost({ hostname }), new Scene()))
  return Promise.all(computers.map((one) => one.serve()))
}

describe('with their cables out', () => {
  test('three: the circle of the pairwise rule, two around ten seconds, in all orders of names', async () => {
    const three = await served('a', 'b', 'c')
    const herds: Herd[] = [
      { what: 'a circle, the names in the other order', starts: [12, 6, 0] },
      { what: 'a circle, the names in order', starts: [0, 6, 12] },
      { what: 'a circle, a in the middle', starts: [6, 12, 0] },
      { what: 'at once', starts: [0, 0, 0] },
      { what: 'just within ten seconds, the later has the lower name', starts: [9.8, 0, undefined] },
      { what: 'just beyond, the later has the lower name', starts: [10.2, 0, undefined] },
      { what: 'just within, the later has the higher name', starts: [undefined, 0, 9.8] },
      { what: 'just beyond, the later has the higher name', starts: [undefined, 0, 10.2] }
    ]
    const ended = await runHerds(three, herds, { cablesOut: true })
    // Of two, whoever wins for one wins for the other, whatever answers are late.
    for (const { herd, started, left, decided } of ended) {
      if (started.length === 2) expect(left.computer.name, herd.what).toBe(decided.computer.name)
    }
  })

  test('two of one name, and five', async () => {
    const five = await served('twin', 'd', 'twin', 'a', 'c')
    const herds: Herd[] = [
      { what: 'the two of one name', starts: [0, undefined, 0] },
      { what: 'five at once', starts: [0, 0, 0, 0, 0] }
    ]
    await runHerds(five, herds, { cablesOut: true })
  })
})

test('with their cables in, all at once: the others are refused or give up, and never all', async () => {
  const three = await served('c', 'twin', 'twin')
  const herds = Array.from({ length: 6 }, () => ({ what: 'at once', starts: [0, 0, 0] }))
  await runHerds(three, herds, { cablesOut: false })
})

/**
 * Computers that start one agent without knowing of each other, many herds at a time: 2, 3, 5 and 8 computers, names in all
 * orders (in some, of five and eight), names that two share, starts around ten seconds apart, cables out and in.
 */
import { afterAll, expect, test } from 'vitest'
import { table } from '../../../../bench/measuring/table.mjs'
import { VirtualNetwork } from '../../../../test/net/index.js'
import { type Herd, type HerdEnd, runHerds } from '../harness/herd.js'
import { LanComputer } from '../harness/lan-computer.js'
import { Scene } from '../harness/scene.js'

const TWO = [
  [0, 0],
  [0, 9],
  [0, 9.9],
  [0, 10.1],
  [0, 11]
]
const THREE = [
  [0, 0, 0],
  [0, 6, 12],
  [0, 9, 11],
  [0, 9.9, 10.1],
  [0, 9.9, 19.8],
  [0, 10.1, 20.2]
]
const FIVE = [
  [0, 0, 0, 0, 0],
  [0, 3, 6, 9, 12],
  [0, 6, 12, 18, 24],
  [0, 9.9, 10.1, 19.8, 20.2]
]
const EIGHT = [
  [0, 0, 0, 0, 0, 0, 0, 0],
  [0, 2, 4, 6, 8, 10, 12, 14],
  [0, 6, 12, 18, 24, 30, 36, 42],
  [0, 0, 9.9, 9.9, 10.1, 10.1, 11, 20]
]

const SETS = [
  { names: ['mill', 'barn'], patterns: TWO },
  { names: ['twin', 'twin'], patterns: TWO },
  { names: ['a', 'b', 'c'], patterns: THREE },
  { names: ['twin', 'twin', 'a'], patterns: THREE },
  { names: ['z', 'twin', 'twin'], patterns: THREE },
  { names: ['a', 'b', 'c', 'd', 'e'], patterns: FIVE },
  { names: ['twin', 'b', 'twin', 'z', 'e'], patterns: FIVE },
  { names: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], patterns: EIGHT },
  { names: ['twin', 'b', 'c', 'twin', 'e', 'z', 'g', 'twin'], patterns: EIGHT }
]
const HOSTS = Number(process.env.AGENTMUX_FIGURES_HOSTS ?? 0)
const AT_ONCE = 10

const rows: (string | number)[][] = []
afterAll(() => {
  const header = [
    'computers',
    'cables',
    'seconds after the first',
    'herds',
    'off by, ms',
    'one left',
    'as decided',
    'after, s'
  ]
  process.stdout.write(`\n${table(header, rows)}\n\n`)
})

test.for(SETS.filter(({ names }) => HOSTS === 0 || names.length === HOSTS))(
  '$names.length computers: $names',
  { timeout: 600_000 },
  async ({ names, patterns }) => {
    const network = VirtualNetwork.create()
    const computers = names.map((hostname) => new LanComputer(network.addHost({ hostname }), new Scene()))
    try {
      await Promise.all(computers.map((one) => one.serve()))
      const herds = patterns.flatMap((pattern) =>
        ordersOf(names.length).map(
          (order): Herd => ({
            what: pattern.join(' '),
            starts: order.map((place) => pattern[place])
          })
        )
      )
      const out = await runHerds(computers, herds, { cablesOut: true })
      for (const pattern of patterns)
        tell(
          names,
          'out',
          out.filter(({ herd }) => herd.what === pattern.join(' '))
        )
      const atOnce = Array.from({ length: AT_ONCE }, () => ({ what: 'at once', starts: names.map(() => 0) }))
      tell(names, 'in', await runHerds(computers, atOnce, { cablesOut: false }))
    } finally {
      await Promise.all(computers.map(({ scene }) => scene.close()))
      await network.remove()
    }
  }
)

function tell(names: readonly string[], cables: 'in' | 'out', ends: readonly HerdEnd[]): void {
  const asDecided = ends.filter(({ left, decided }) => left === decided).length
  // Of two, whoever wins for one wins for the other, whatever answers are late.
  if (names.length === 2) expect(asDecided).toBe(ends.length)
  const slowestMs = Math.max(...ends.map(({ afterMs }) => afterMs))
  rows.push([
    names.join(' '),
    cables,
    ends[0]?.herd.what ?? '',
    ends.length,
    cables === 'in' ? '' : Math.max(...ends.map(offBy)),
    ends.length,
    asDecided,
    (slowestMs / 1_000).toFixed(1)
  ])
}

/** By how many milliseconds a start was further from the first one than planned, or nearer, at most. */
function offBy({ herd, started }: HerdEnd): number {
  const planned = herd.starts.flatMap((seconds) => (seconds === undefined ? [] : [seconds * 1_000]))
  const firstMs = Math.min(...started.map(({ acquiredAtMs }) => acquiredAtMs))
  const off = started.map(({ acquiredAtMs }, at) => Math.abs(acquiredAtMs - firstMs - (planned[at] ?? 0)))
  return Math.round(Math.max(...off))
}

/** All orders of up to three; of more, in order, the other way, and each half of the names in front of the other. */
function ordersOf(count: number): number[][] {
  const inOrder = Array.from({ length: count }, (_, at) => at)
  if (count <= 3) return permutations(inOrder)
  const half = Math.floor(count / 2)
  const turned = inOrder.map((at) => (at + half) % count)
  const alternating = inOrder.map((at) => (at % 2 === 0 ? at / 2 : count - (at + 1) / 2))
  return [inOrder, turned, alternating].flatMap((order) => [order, order.map((at) => count - 1 - at)])
}

function permutations(of: readonly number[]): number[][] {
  if (of.length <= 1) return [[...of]]
  return of.flatMap((first) =>
    permutations(of.filter((one) => one !== first)).map((rest) => [first, ...rest])
  )
}

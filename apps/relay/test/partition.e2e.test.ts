/**
 * A short run of bench/relay-faults with cables that are cut: the long one is for people, the judgement is the same. Three of
 * the four relays know one member each, so that some go on asking whoever is cut off.
 */
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const BENCH = fileURLToPath(new URL('../../../bench/relay-faults/bench.mjs', import.meta.url))
const CLAIMS = 240

test('the leader cut off from the others, not from those who ask it: at most unavailable, never wrong', () => {
  const args = ['--claims', String(CLAIMS), '--only', 'the leader cut off', '--disk', tmpdir(), '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, ...args], { encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
  const seen = JSON.parse(stdout).results['the leader cut off']
  expect(seen.violations).toEqual([])
  expect(seen.granted + seen.refused).toBeGreaterThanOrEqual(CLAIMS)
  expect(seen.whileBroken).toBeGreaterThan(0)
})

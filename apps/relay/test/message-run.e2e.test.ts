/** A short run of bench/relay-messages: the long one is for people, the judgement is the same. */
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const BENCH = fileURLToPath(new URL('../../../bench/relay-messages/bench.mjs', import.meta.url))

test.each([
  ['sqlite', 300],
  ['etcd', 100]
])(
  '%s: %i messages with kills of the relay and of deliverers: none twice, none lost unexplained',
  (store, count) => {
    const args = [
      '--messages',
      String(count),
      '--breaks',
      '2',
      '--store',
      store,
      '--disk',
      tmpdir(),
      '--json'
    ]
    const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, ...args], { encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
    const { delivered, doubled, lostByKill, unexplained, restarts, kills } = JSON.parse(stdout)
    expect({ doubled, unexplained, restarts, kills }).toEqual({
      doubled: [],
      unexplained: [],
      restarts: 2,
      kills: 2
    })
    expect(delivered + lostByKill.length).toBe(count)
  }
)

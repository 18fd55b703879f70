/** Thousands of renewals with every kind of answer: nothing grows (sockets, listeners, timers, memory). */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('./many-renewals.mjs', import.meta.url))

it('sockets, listeners and heap stay flat over 1,100 renewals with mixed answers', () => {
  const ran = spawnSync(process.execPath, ['--expose-gc', '--trace-warnings', SCRIPT, '1100'], {
    encoding: 'utf8'
  })
  expect(ran.stderr).toBe('')
  expect(ran.status).toBe(0)
  const figures = JSON.parse(ran.stdout)
  expect(figures.renewals).toBe(1_100)
  expect(figures.mostSockets).toBeLessThanOrEqual(9)
  expect(figures.listenersAfter).toBe(figures.listenersBefore)
  expect(figures.socketsAfterClose).toBe(0)
  expect(figures.heapGrowthBytes).toBeLessThan(4 * 1024 * 1024)
})

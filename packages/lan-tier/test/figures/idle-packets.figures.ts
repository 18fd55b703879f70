/** How much five idle instances on five computers say to everybody, minute by minute. */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../../test/net/index.js'
import { DiscoveringHost } from '../harness/discovering-host.js'

const COUNTER = fileURLToPath(new URL('../harness/packet-counter.mjs', import.meta.url))
const MINUTES = Number(process.env.AGENTMUX_FIGURES_MINUTES ?? 10)
const network = VirtualNetwork.create()
afterAll(() => network.remove())

test(`five idle instances, ${MINUTES} minutes`, { timeout: (MINUTES + 2) * 60_000 }, async () => {
  const hosts = ['a', 'b', 'c', 'd', 'e'].map((hostname) => network.addHost({ hostname }))
  const listener = network.addHost({ hostname: 'listener' })
  const counter = listener.spawn(process.execPath, [COUNTER, listener.address, listener.card], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const counts = new Map<string, number>()
  if (!counter.stdout) throw new Error('no pipe')
  createInterface({ input: counter.stdout }).on('line', (line) => {
    const { kind, from } = JSON.parse(line) as { kind: string; from: string }
    const key = `${kind} ${from.includes(':') ? 'IPv6' : 'IPv4'}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  })
  await sleep(1_000)
  const all = await Promise.all(hosts.map((host) => DiscoveringHost.start(host, { port: 5001 })))
  const rows: (readonly [string, number])[][] = []
  for (let minute = 1; minute <= MINUTES; minute++) {
    await sleep(60_000)
    const row = [...counts].sort()
    const total = row.reduce((sum, [, count]) => sum + count, 0)
    counts.clear()
    rows.push(row)
    process.stdout.write(
      `minute ${minute}: ${total} packets; ${row.map(([k, n]) => `${k}: ${n}`).join(', ')}\n`
    )
  }
  for (const one of all) expect((await one.peers()).length).toBe(4)
  expect(rows.length).toBe(MINUTES)
})

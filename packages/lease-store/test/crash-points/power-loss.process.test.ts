/**
 * The power is cut after every change that a process makes to its lease files, and what was not synced is lost, torn or
 * reordered, in every combination. On the next boot: nobody is let in beside a holder that may live, nobody waits for
 * longer than one TTL, and no epoch that was given is given again.
 */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createManualClock } from '@agentmux/lease-model/testing'
import { expect, it } from 'vitest'
import { LeaseStore } from '../../src/index.js'
import { Child } from '../harness/child.js'
import { diskFolder, temporaryFolder } from '../harness/folder.js'
import { HERE, TTL_MS } from '../harness/parties.js'
import { type Contents, DiskModel, writeContents } from './disk-model.js'
import { claimBy } from './scenarios.js'
import { traced } from './traced.js'

const FOLDER = 'registry/leases'
/** A key's whole life: what one operation leaves unsynced, the next one begins with. */
const LIFE = ['claim', 'renew', 'release', 'claim', 'claim', 'renew', 'release', 'claim', 'release', 'claim']

/** What is wrong on the first boot after the power cut; undefined if nothing is. */
async function wrongAfter(root: string, contents: Contents, given: number): Promise<string | undefined> {
  writeContents(join(root, 'leases'), contents)
  const clock = createManualClock()
  const store = LeaseStore.open(root, { clock, host: HERE })
  const startedMs = clock.bootMs()
  for (;;) {
    const result = await store.claim(claimBy('next'))
    const waitedMs = clock.bootMs() - startedMs
    if (result.kind === 'granted') {
      if (result.lease.epoch <= given) return `epoch ${result.lease.epoch} was given after ${given}`
      const left = readdirSync(join(root, 'leases')).filter((name) => name.endsWith('.tmp'))
      rmSync(root, { recursive: true })
      return left.length === 0 ? undefined : `left: ${left.join()}`
    }
    if (waitedMs > TTL_MS) return `still ${result.kind} after ${waitedMs} ms`
    await clock.advance(result.kind === 'unknown' ? result.retryAfterMs : TTL_MS / 3)
  }
}

it('survives a power cut after every change, whatever of it had reached the disk', async () => {
  const folder = diskFolder()
  const places = temporaryFolder()
  const child = new Child(join(folder, 'registry'))
  await child.do('hello')
  const disk = new DiskModel()
  let given = 0
  let states = 0
  const tried = new Set<string>()
  const wrong: string[] = []
  const cutHere = async (where: string) => {
    for (const contents of disk.afterPowerCut()) {
      const text = JSON.stringify([
        given,
        [...contents].map(([name, bytes]) => [name, bytes.toString('hex')])
      ])
      const state = createHash('sha256').update(text).digest('hex')
      if (tried.has(state)) continue
      tried.add(state)
      states++
      const what = await wrongAfter(join(places, String(states)), contents, given)
      if (what !== undefined) wrong.push(`${where}: ${what}, with ${[...contents.keys()].join(' ')}`)
    }
  }
  for (const [nth, operation] of LIFE.entries()) {
    let epoch = given
    const work = async () => {
      const answer = await child.do(operation, claimBy('b'))
      expect(answer.kind).toMatch(/granted|renewed|released/)
      if (operation === 'claim') epoch = answer.lease.epoch
    }
    for (const call of await traced(child.pid, folder, { work })) {
      if (disk.apply(call, FOLDER)) await cutHere(`${nth} ${operation}, after ${call.name} ${call.path}`)
    }
    given = epoch
    await cutHere(`${nth} ${operation}, when it was answered`)
  }
  expect(wrong).toEqual([])
  expect(states).toBeGreaterThan(200)
}, 300_000)

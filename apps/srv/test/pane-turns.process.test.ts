/** A turn whose process was suspended in the middle of it: what was true before counts no longer (R4, R13). */
import { readFileSync } from 'node:fs'
import { RecordFence, type SharedRecord } from '@agentmux/host-admission'
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect } from 'vitest'
import { PaneChild } from '../src/panes/pane-child.js'
import { PaneTurns } from '../src/panes/pane-turns.js'
import { type House, test } from './harness/pane-scene.js'
import { until } from './harness/until.js'

const TTL_MS = 15_000

/** Turns for a child that writes down what it hears; `suspend` is called once the turn stands in the record. */
async function turnsOf(
  house: House,
  transcript: string,
  suspend: (advance: (ms: number) => Promise<void>) => Promise<void>
) {
  const { scene, record, admission } = house
  const acquired = await admission.acquire({ uid: scene.uid }, { blockId: 'pane' })
  if (acquired.kind !== 'granted') throw new Error(acquired.refusal.message)
  const { lease } = acquired
  const command = { path: '/bin/sh', name: 'sh', args: ['-c', 'cat > "$0"', transcript], cwd: scene.folder }
  const started = await lease.start(
    () => new PaneChild(command, { ...lease.environment, AGENTMUX_TEST_SCENE: scene.folder }),
    { ownGroup: true }
  )
  if (started.kind !== 'started') throw new Error('not started')
  const clock = createManualClock()
  let isFirst = true
  const appendIf: SharedRecord['appendIf'] = async (...request) => {
    const result = await record.appendIf(...request)
    if (isFirst) await suspend((ms) => clock.advance(ms))
    isFirst = false
    return result
  }
  const fence = new RecordFence(lease, { record: { appendIf }, clock, ttlMs: TTL_MS })
  return new PaneTurns({ lease, fence, child: started.child, clock, isOpen: () => true })
}

const kindsIn = async (house: House) => (await house.lines()).map(({ event }) => event.kind)

describe.concurrent('a turn', () => {
  test('does not reach the agent after a suspension that outlasts the last confirmation', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const transcript = scene.newPath('transcript')
    const turns = await turnsOf(house, transcript, (advance) => advance(TTL_MS + 1))
    expect(await turns.send('too late')).toEqual({ kind: 'ended' })
    expect(await kindsIn(house)).toEqual(['turn', 'turn-not-sent'])
    // The next is checked anew.
    expect(await turns.send('in time')).toMatchObject({ kind: 'sent' })
    await until('it hears', () => readFileSync(transcript, 'utf8').includes('in time'))
    expect(readFileSync(transcript, 'utf8')).toBe('in time\n')
  })

  test('reaches it after one that does not', async ({ scene, houseOn }) => {
    const house = houseOn()
    const transcript = scene.newPath('transcript')
    const turns = await turnsOf(house, transcript, (advance) => advance(TTL_MS))
    expect(await turns.send('in time')).toMatchObject({ kind: 'sent' })
    expect(await kindsIn(house)).toEqual(['turn'])
  })
})

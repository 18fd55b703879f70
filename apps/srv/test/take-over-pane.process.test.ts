/** The requester's half of a take-over into a pane (R5): bounded from beginning to end, and nothing is left behind. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { PaneTakeOver } from '../src/daemon/take-over-pane.js'
import { test } from './harness/pane-scene.js'

describe.concurrent('a take-over into a pane', () => {
  test('that goes on closing runs out of time, and the pane closes all the same', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'], { agent: 'Ada' })
    const closing = house.panes.close(pane.blockId, { graceMs: 600_000 })
    const result = await new PaneTakeOver({ ...house, timeoutMs: 300 }).takeOver(pane.blockId)
    expect(result).toMatchObject({
      kind: 'ran-out',
      message: expect.stringContaining('Ada was not taken over')
    })
    expect(existsSync(join(scene.leases, `${scene.uid}.hold`))).toBe(false)
    expect(house.panes.get(pane.blockId)?.state).toBe('closing')
    await house.panes.close(pane.blockId, { graceMs: 0 })
    await closing
    const taken = await new PaneTakeOver(house).takeOver(pane.blockId)
    expect(taken).toMatchObject({ kind: 'done', pane: { state: 'running', epoch: pane.epoch + 1 } })
    expect(existsSync(join(scene.leases, `${scene.uid}.hold`))).toBe(false)
  })

  test('ends with whoever asked', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    void house.panes.close(pane.blockId, { graceMs: 600_000 })
    const gone = new AbortController()
    const taking = new PaneTakeOver(house).takeOver(pane.blockId, gone.signal)
    gone.abort(new Error('gone'))
    await expect(taking).rejects.toThrow('gone')
  })
})

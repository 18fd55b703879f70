/** The end of a pane where the system does not help: what may still run is fenced and guarded, never left to itself (R12, R13). */
import type { HeldAgentLease } from '@agentmux/host-admission'
import { RecordFence } from '@agentmux/host-admission'
import { LeaseFault } from '@agentmux/lease-store'
import { describe, expect } from 'vitest'
import { PaneChild } from '../src/panes/pane-child.js'
import { PaneDeadline } from '../src/panes/pane-deadline.js'
import { PaneEnding } from '../src/panes/pane-ending.js'
import { PaneOutput } from '../src/panes/pane-output.js'
import { test } from './harness/pane-scene.js'
import { lives } from './harness/processes.js'

/** The lease as it is, on a system whose /proc cannot be read by whoever asks through it. */
function withoutProc(lease: HeldAgentLease): HeldAgentLease {
  const unreadable = () => Promise.reject(new LeaseFault('no /proc', { code: 'io', path: '/proc' }))
  return new Proxy(lease, {
    get(target, name) {
      if (name === 'endProcesses' || name === 'release') return unreadable
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
}

describe('a pane whose processes cannot be looked for', () => {
  test('is fenced: its agent is not used any more, and what runs is ended by the lease', async ({
    scene,
    houseOn
  }) => {
    const { admission, record, clock } = houseOn()
    const acquired = await admission.acquire({ uid: scene.uid }, { blockId: 'pane' })
    if (acquired.kind !== 'granted') throw new Error(acquired.refusal.message)
    const held = acquired.lease
    const command = { path: '/bin/sleep', name: 'sleep', args: ['600'], cwd: scene.folder }
    const started = await held.start(
      () => new PaneChild(command, { ...held.environment, AGENTMUX_TEST_SCENE: scene.folder }),
      { ownGroup: true }
    )
    if (started.kind !== 'started') throw new Error('not started')
    const { child } = started
    const lease = withoutProc(held)
    const fence = new RecordFence(held, { record, clock, ttlMs: 15_000 })
    const faults: unknown[] = []
    const onFault = (fault: unknown) => faults.push(fault)
    const output = new PaneOutput({ lease, fence, child, clock, onFault })
    const deadline = new PaneDeadline(clock)
    const ending = new PaneEnding({ lease, fence, child, clock, output, deadline, onFault })
    deadline.shorten(0)
    const ended = await ending.endHeld({ exit: () => undefined, lastEvents: () => [] })
    expect(ended).toMatchObject({ kind: 'lost', refusal: { kind: 'lost', reason: 'unconfirmed' } })
    expect(faults).toContainEqual(expect.objectContaining({ path: '/proc' }))
    expect(held.held).toBe(false)
    await held.fenced()
    await child.exited
    expect(lives(child.pid)).toBe(false)
    expect(admission.held.size).toBe(0)
  })
})

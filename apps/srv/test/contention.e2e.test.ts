/** Several runs for one agent at once: one drives, the others are told by whom and start nothing (R1, R2). */
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { type Scene, test } from './harness/scene.js'

async function raceOf(scene: Scene, runners: number): Promise<void> {
  const stop = scene.newPath('stop')
  const runs = Array.from({ length: runners }, (_, index) =>
    scene.run(scene.agent(`child-${index}`, '--until', stop), {
      flags: ['--agent', 'Agent3', '--channel', `c${index}`]
    })
  )
  // The child outlives them all: it is told to end only when all the others have.
  const refused = await firstEnded(runs, runners - 1)
  const [winner, ...more] = runs.filter((run) => run.running)
  expect(more).toEqual([])
  if (winner === undefined) throw new Error('nobody won')
  const channel = runs.indexOf(winner)

  for (const { code, stdout, stderr } of refused) {
    expect(code).toBe(75)
    expect(stdout).toBe('')
    expect(stderr).toContain('Agent3')
    expect(stderr).toMatch(/is already running in another AgentMux instance on this host/)
    expect(stderr).toContain(`channel c${channel}`)
    expect(stderr).toContain(`pid ${winner.pid}`)
  }
  const child = await scene.audited(`child-${channel}`, 'begin')
  expect(child.epoch).toBe(1)
  scene.trigger(stop)
  expect((await winner.ended).code).toBe(0)
  expect(scene.auditLines().filter(({ event }) => event === 'begin')).toHaveLength(1)
}

/** The results of the first `count` runs to end. */
async function firstEnded(runs: ReturnType<Scene['run']>[], count: number) {
  const ended: Awaited<(typeof runs)[number]['ended']>[] = []
  await new Promise<void>((resolve) => {
    for (const run of runs) {
      void run.ended.then((result) => {
        ended.push(result)
        if (ended.length === count) resolve()
      })
    }
  })
  return ended.slice(0, count)
}

describe('run, several at once', () => {
  test('one of two runs its child; the other says who holds the agent and exits 75', ({ scene }) =>
    raceOf(scene, 2))

  test('one of fifty runs its child, which outlives them; the others start nothing and exit 75', ({
    scene
  }) => raceOf(scene, 50))

  test('agents with different UIDs run side by side, whatever their names', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const flags = ['--agent', 'SameName']
    const one = scene.run(scene.agent('one', '--until', stop), { uid: 'uid-one', flags })
    const other = scene.run(scene.agent('other', '--until', stop), { uid: 'uid-other', flags })
    await Promise.all([scene.audited('one', 'begin'), scene.audited('other', 'begin')])
    scene.trigger(stop)
    expect((await one.ended).code).toBe(0)
    expect((await other.ended).code).toBe(0)
  })

  test('a refusal is data with --json, and its exit code is chosen with -E', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const holder = scene.run(scene.agent('holder', '--until', stop))
    await scene.audited('holder', 'begin')
    const refused = await scene.run(scene.agent('newcomer'), { flags: ['--json', '-E', '9', '-n'] }).ended
    expect(refused.code).toBe(9)
    expect(refused.stderr).toBe('')
    const refusal = parseRefusal(JSON.parse(refused.stdout).refusal)
    expect(refusal).toMatchObject({
      kind: 'held',
      agent: { uid: scene.uid },
      holder: { pid: holder.pid, epoch: 1 }
    })
    scene.trigger(stop)
    expect((await holder.ended).code).toBe(0)
  })

  test('the agent is free again once its command has ended, with the next epoch', async ({ scene }) => {
    for (const epoch of [1, 2, 3]) {
      const { code, stdout } = await scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH']).ended
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${epoch}\n` })
    }
  })
})

/** What a command leaves running is part of its claim: the agent is free only when it is gone (R12). */
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { lives } from './harness/processes.js'
import { test } from './harness/scene.js'

describe('run, when its command has ended and left something running', () => {
  test('SIGTERM, the grace, SIGKILL, and only then the agent is free', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const poll = await pollClaims(scene)
    const run = scene.run(
      scene.leaving(7, scene.agent('left', '--ignore', 'SIGTERM', '--session-child', 'daemon')),
      {
        flags: ['--grace', '1.5']
      }
    )
    const family = await Promise.all([scene.audited('left', 'begin'), scene.audited('daemon', 'begin')])
    const claim = family[0].claim
    await poll.sees(claim)
    await Promise.all(['left', 'daemon'].map((name) => scene.audited(name, 'signal')))
    const next = scene.run(scene.agent('next', '--until', stop), { flags: ['--wait'] })

    const ended = await run.ended
    expect(ended.code).toBe(7)
    expect(ended.stderr).toContain('ending what the command left running before the agent is free')
    for (const { pid } of family) expect(ended.stderr).toContain(`pid ${pid}`)
    const successor = await scene.audited('next', 'begin')
    expect(family.map(({ pid }) => lives(pid))).toEqual([false, false])
    await poll.sees(successor.claim)
    scene.trigger(stop)
    expect((await next.ended).code).toBe(0)

    const signals = scene.auditLines().filter(({ event }) => event === 'signal')
    expect(signals.map(({ name, signal }) => [name, signal]).sort()).toEqual([
      ['daemon', 'SIGTERM'],
      ['left', 'SIGTERM']
    ])
    const { overlaps, uncovered } = await poll.end()
    expect({ overlaps, uncovered }).toEqual({ overlaps: [], uncovered: [] })
  })

  test('those that heed SIGTERM end by themselves, however long the grace', async ({ scene }) => {
    const run = scene.run(scene.leaving(7, scene.agent('left')), { flags: ['--grace', '86400'] })
    expect((await run.ended).code).toBe(7)
    expect(scene.auditLines().at(-1)).toMatchObject({ name: 'left', event: 'end' })
  })

  test('--grace 0 kills at once', async ({ scene }) => {
    const run = scene.run(scene.leaving(7, scene.agent('left')), { flags: ['--grace', '0'] })
    const left = await scene.audited('left', 'begin')
    expect((await run.ended).code).toBe(7)
    expect(lives(left.pid)).toBe(false)
    expect(scene.auditLines().filter(({ event }) => event === 'end')).toEqual([])
  })

  test('a process of another claim, and one of none, are left alone', async ({ scene }) => {
    const stranger = scene.start(scene.agent('stranger'))
    const other = scene.run(scene.agent('other'), { uid: 'another-agent' })
    await Promise.all([scene.audited('stranger', 'begin'), scene.audited('other', 'begin')])
    expect((await scene.run(['sh', '-c', 'sleep 600 & exit 0']).ended).code).toBe(0)
    expect(lives(stranger.pid)).toBe(true)
    expect(other.running).toBe(true)
    expect(scene.auditLines().filter(({ event }) => event === 'signal')).toEqual([])
    other.signal('SIGTERM')
    await other.ended
  })
})

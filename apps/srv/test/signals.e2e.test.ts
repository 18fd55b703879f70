/** Signals to a run without a terminal: before, while and after its command runs. */
import { chmodSync } from 'node:fs'
import { constants } from 'node:os'
import { describe, expect } from 'vitest'
import { isPending, lives, sessionOf, stateOf } from './harness/processes.js'
import { fixture, type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

function heard(scene: Scene, name = 'agent'): (string | undefined)[] {
  return scene
    .auditLines()
    .flatMap((line) => (line.name === name && line.event === 'signal' ? [line.signal] : []))
}

async function free(scene: Scene): Promise<void> {
  expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
}

describe('run, without a terminal', () => {
  test('the command leads a session and group of its own', async ({ scene }) => {
    const run = scene.run(scene.agent())
    const agent = await scene.audited('agent', 'begin')
    expect(sessionOf(agent.pid)).toBe(agent.pid)
    run.signal('SIGTERM')
    await run.ended
  })

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['SIGUSR1', 138],
    ['SIGUSR2', 140],
    ['SIGALRM', 142]
  ] as const) {
    test(`${signal} is forwarded once, to the command alone, and its exit code is passed on`, async ({
      scene
    }) => {
      const stop = scene.newPath('stop')
      const ignoring = scene.agent(
        'agent',
        '--ignore',
        signal,
        '--child',
        'native',
        '--until',
        stop,
        '--exit',
        '6'
      )
      const run = scene.run(ignoring)
      const agent = await scene.audited('agent', 'begin')
      await scene.audited('native', 'begin')
      run.signal(signal)
      await scene.audited('agent', 'signal')
      await scene.beatsAgain(agent.pid)
      expect(heard(scene)).toEqual([signal])
      expect(heard(scene, 'native')).toEqual([])
      scene.trigger(stop)
      expect((await run.ended).code).toBe(6)

      const heeding = scene.run(scene.agent('heeding'))
      await scene.audited('heeding', 'begin')
      heeding.signal(signal)
      expect((await heeding.ended).code).toBe(code)
      expect(heard(scene, 'heeding')).toEqual([signal])
      await free(scene)
    })
  }

  test('a command that a signal ends is reported as 128 + its number', async ({ scene }) => {
    for (const [signal, code] of [
      ['KILL', 137],
      ['SEGV', 139],
      ['TERM', 143]
    ]) {
      expect((await scene.run(['sh', '-c', `kill -${signal} $$`]).ended).code).toBe(code)
    }
  })

  test('SIGTERM while it waits: it ends as by the signal, has started nothing and holds nothing', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const holder = scene.run(scene.agent('holder', '--until', stop))
    await scene.audited('holder', 'begin')
    const waiting = scene.run(scene.agent('newcomer'), { flags: ['--wait'] })
    await waiting.says(/Waiting for/)
    waiting.signal('SIGTERM')
    expect((await waiting.ended).code).toBe(143)
    scene.trigger(stop)
    expect((await holder.ended).code).toBe(0)
    await free(scene)
    expect(scene.auditLines().filter(({ name }) => name === 'newcomer')).toEqual([])
  })

  test('SIGTERM between the claim and the start: nothing is started, and the lease is given back', async ({
    scene
  }) => {
    // The lock of the agent is taken away between the two, so that the start has to wait for it.
    const started = scene.newPath('started')
    const run = scene.run(['touch', started], {
      nodeFlags: ['--import', fixture('lock-before-start.mjs')],
      environment: { LOCK_FILE: `${scene.leases}/${scene.uid}.lock`, LEASE_FILE: scene.leaseFile() }
    })
    await run.says(/locked/)
    run.signal('SIGTERM')
    const { code } = await run.ended
    expect(code).toBe(143)
    expect(scene.exists(started)).toBe(false)
    await free(scene)
  })

  test('a stopped command gets the signal when it goes on', async ({ scene }) => {
    const run = scene.run(scene.agent())
    const agent = await scene.audited('agent', 'begin')
    process.kill(agent.pid, 'SIGSTOP')
    await until('it is stopped', () => stateOf(agent.pid) === 'T')
    run.signal('SIGTERM')
    await until('the run has heard it', () => isPending(agent.pid, constants.signals.SIGTERM))
    process.kill(agent.pid, 'SIGCONT')
    expect((await run.ended).code).toBe(143)
    expect(heard(scene).filter((signal) => signal !== 'SIGCONT')).toEqual(['SIGTERM'])
  })

  test('a second SIGTERM, when the command has ended and its remains have not, ends them now', async ({
    scene
  }) => {
    const run = scene.run(scene.leaving(4, scene.agent('left', '--ignore', 'SIGTERM')), {
      flags: ['--grace', '3600']
    })
    const left = await scene.audited('left', 'begin')
    await run.says(/ending what the command left running/)
    await scene.audited('left', 'signal')
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(4)
    expect(lives(left.pid)).toBe(false)
    await free(scene)
  })

  test('SIGTERM to a command that runs as another user: said, and the lease is kept until it has ended', async ({
    scene
  }) => {
    // Without the capability, root may not signal others either; anybody else may not signal root.
    if (process.geteuid?.() !== 0) return expect(() => process.kill(1, 'SIGTERM')).toThrow('EPERM')
    chmodSync(scene.folder, 0o755)
    const stop = scene.newPath('stop')
    const other = [
      'setpriv',
      '--reuid=65534',
      '--clear-groups',
      'sh',
      '-c',
      `echo up; while [ ! -e ${stop} ]; do sleep 0.05; done; exit 2`
    ]
    const run = scene.run(other, { via: ['setpriv', '--bounding-set=-kill', '--'] })
    await run.prints(/up/)
    run.signal('SIGTERM')
    await run.says(/may not be signalled by us: no SIGTERM/)
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(75)
    scene.trigger(stop)
    expect((await run.ended).code).toBe(2)
    await free(scene)
  })
})

describe('run, when something of its own fails', () => {
  test('an error that nobody caught: the command and what it left are ended, the agent is free, exit 70', async ({
    scene
  }) => {
    const trigger = scene.newPath('throw')
    const run = scene.run(scene.agent('agent', '--ignore', 'SIGTERM', '--session-child', 'daemon'), {
      nodeFlags: ['--import', fixture('main-thread.mjs')],
      environment: { THROW_TRIGGER: trigger }
    })
    const family = await Promise.all([scene.audited('agent', 'begin'), scene.audited('daemon', 'begin')])
    scene.trigger(trigger)
    const { code, stderr } = await run.ended
    expect(code).toBe(70)
    expect(stderr).toContain('internal error: Error: thrown by a test')
    expect(family.map(({ pid }) => lives(pid))).toEqual([false, false])
    await free(scene)
  })

  test('stdout and stderr closed: the command goes on, is ended as ever, and the agent comes free', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('agent', '--session-child', 'daemon', '--until', stop, '--exit', '8'), {
      flags: ['--grace', '0']
    })
    const [agent, daemon] = await Promise.all([
      scene.audited('agent', 'begin'),
      scene.audited('daemon', 'begin')
    ])
    run.closeOutput()
    await scene.beatsAgain(agent.pid)
    scene.trigger(stop)
    // It says, into the closed pipe, that it ends the daemon.
    expect((await run.ended).code).toBe(8)
    expect(lives(daemon.pid)).toBe(false)
    await free(scene)
  })

  test('the lease lost: a command that took off the mark of its claim is ended, too', async ({ scene }) => {
    const bare = ['env', '-i', `AGENTMUX_TEST_SCENE=${scene.folder}`]
    const run = scene.run([...bare, ...scene.agent('agent', '--ignore', 'SIGTERM')])
    const agent = await scene.audited('agent', 'begin')
    expect(agent.claim).toBe('')
    await scene.removeLease()
    expect((await run.ended).code).toBe(76)
    expect(lives(agent.pid)).toBe(false)
    expect(heard(scene)).toEqual(['SIGTERM'])
  })

  test('stderr closed and the lease lost: the command is ended all the same, exit 76', async ({ scene }) => {
    const run = scene.run(scene.agent())
    const agent = await scene.audited('agent', 'begin')
    run.closeOutput()
    await scene.removeLease()
    expect((await run.ended).code).toBe(76)
    expect(lives(agent.pid)).toBe(false)
  })

  test('all three descriptors closed from the start: it runs the command and passes on its code', async ({
    scene
  }) => {
    const done = scene.newPath('done')
    const run = scene.start([
      'sh',
      '-c',
      'exec "$@" <&- >&- 2>&-',
      'sh',
      ...scene.runWords(['sh', '-c', `touch ${done}; exit 5`])
    ])
    expect((await run.ended).code).toBe(5)
    expect(scene.exists(done)).toBe(true)
  })
})

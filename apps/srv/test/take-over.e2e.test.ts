/** Moving an agent: confirmed by a person, asked of whoever drives it, and kept for the one it goes to (R5). */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isAdmissionRefusal, parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { pollClaims } from './harness/claim-poller.js'
import { registered } from './harness/instance.js'
import { putLease, record } from './harness/lease-record.js'
import { anotherProcess, leaseOfOlderBuild, olderBuild, removeLeaseFile } from './harness/older-build.js'
import { lives } from './harness/processes.js'
import { quoted, type Scene, test } from './harness/scene.js'
import { CTRL_C, ShellOnTerminal } from './harness/terminal.js'
import { until } from './harness/until.js'

const CTRL_D = '\x04'
const BETA = ['--channel', 'beta']

function holdFile(scene: Scene): string {
  return `${scene.leases}/${scene.uid}.hold`
}

function holdOf(scene: Scene) {
  return existsSync(holdFile(scene)) ? JSON.parse(readFileSync(holdFile(scene), 'utf8')) : undefined
}

/** A run that holds the agent and can be asked. */
async function holder(scene: Scene, command = scene.agent('holder')) {
  const run = scene.run(command)
  const agent = await scene.audited('holder', 'begin')
  await registered(scene)
  return { run, agent }
}

function takeOver(scene: Scene, ...flags: string[]) {
  return scene.cli(['take-over', scene.uid, ...flags])
}

/** Restarts its run whenever that ends, as a supervisor does, and notes every exit code. */
async function supervised(scene: Scene, command: readonly string[]) {
  const codes = scene.newPath('codes')
  const loop = `while :; do ${scene
    .runWords(command, { flags: ['-n'] })
    .map(quoted)
    .join(' ')}; echo $? >> ${codes}; done`
  const program = scene.start(['sh', '-c', loop])
  await registered(scene)
  return { program, codes: () => scene.lines(codes).map(Number) }
}

describe('take-over', () => {
  test('frees the agent where it runs and keeps it for this channel alone', async ({ scene }) => {
    const { run, agent } = await holder(scene)
    const { code, stdout, stderr } = await takeOver(scene, '--yes', ...BETA).ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain(`pid ${run.pid}`)
    expect(stderr).toContain('was let go')
    expect(stderr).toContain(`agentmux-srv run --uid ${scene.uid} --channel beta -- CMD`)
    expect(lives(agent.pid)).toBe(false)
    const old = await run.ended
    expect(old.code).toBe(76)
    expect(old.stderr).toContain('kept for channel beta for another 30 s')
    expect(old.stderr).not.toContain('nd it where it runs')

    const refused = await scene.run(['true'], { flags: ['--json'] }).ended
    expect(refused.code).toBe(75)
    expect(parseRefusal(JSON.parse(refused.stdout).refusal)).toMatchObject({
      kind: 'taken-over',
      holder: { channel: 'beta' }
    })
    expect((await scene.run(['true'], { flags: BETA }).ended).code).toBe(0)
  })

  test('says as data what it has done with --json', async ({ scene }) => {
    const { run } = await holder(scene)
    const { code, stdout } = await takeOver(scene, '--yes', '--json', ...BETA).ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      takeOver: {
        kind: 'released',
        fromChannel: 'stable',
        holder: { pid: run.pid },
        agent: { uid: scene.uid },
        keptMs: 30_000
      }
    })
  })

  test('of an agent that nobody drives: kept, exit 0', async ({ scene }) => {
    expect((await takeOver(scene, '--yes', ...BETA).ended).code).toBe(0)
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta' })
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(75)
  })

  test('lets a person take the agent back within the hold', async ({ scene }) => {
    await holder(scene)
    expect((await takeOver(scene, '--yes', ...BETA).ended).code).toBe(0)
    expect((await takeOver(scene, '--yes').ended).code).toBe(0)
    expect((await scene.run(['true'], { flags: BETA }).ended).code).toBe(75)
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('of a holder that was never registered: exit 75, it goes on, and nothing is left behind', async ({
    scene
  }) => {
    leaseOfOlderBuild(scene)
    const { code, stderr } = await takeOver(scene, '--yes').ended
    expect(code).toBe(75)
    expect(stderr).toContain('is not there to be asked')
    expect(holdOf(scene)).toBeUndefined()
    expect(existsSync(scene.leaseFile())).toBe(true)
  })

  test('where only watching can tell: exit 69', async ({ scene }) => {
    putLease(scene, 'damaged')
    const { code, stderr } = await takeOver(scene, '--yes').ended
    expect(code).toBe(69)
    expect(stderr).toContain('could not be found out')
    expect(holdOf(scene)).toBeUndefined()
  })

  test('of a lease of another computer, which only watching can judge: exit 69, and nothing is left behind', async ({
    scene
  }) => {
    putLease(scene, record(scene, { hostname: 'another-host', host_boot_id: 'of-another-host' }))
    const { code } = await takeOver(scene, '--yes').ended
    expect(code).toBe(69)
    expect(holdOf(scene)).toBeUndefined()
  })

  test('of a holder that is stopped: its lease runs out, and whoever comes next ends what it left', async ({
    scene
  }) => {
    const { run, agent } = await holder(scene)
    await run.stop()
    const { code, stderr } = await takeOver(scene, '--yes', ...BETA).ended
    expect(code).toBe(0)
    expect(stderr).toContain(`pid ${run.pid}`)
    expect(stderr).toContain('is stopped or stuck, and its lease has run out')
    expect(stderr).not.toContain('let go')
    expect(lives(agent.pid)).toBe(true)
    const next = await scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH'], { flags: BETA }).ended
    expect(next).toMatchObject({ code: 0, stdout: '2\n' })
    expect(lives(agent.pid)).toBe(false)
    run.signal('SIGCONT')
    expect((await run.ended).code).toBe(76)
  })
})

describe('take-over', () => {
  test('of a holder that is killed while it is asked: says that it died', async ({ scene }) => {
    const pid = leaseOfOlderBuild(scene)
    const older = await olderBuild(scene, { pid, release: undefined })
    const taking = takeOver(scene, '--yes')
    await until('it is asked', () => older.asked() === 1)
    process.kill(pid, 'SIGKILL')
    const { code, stderr } = await taking.ended
    expect(code).toBe(0)
    expect(stderr).toContain('has died')
    expect(stderr).not.toContain('was let go')
  })

  test('that cannot be written down: exit 69, and it is not said to be kept', async ({ scene }) => {
    await holder(scene)
    mkdirSync(holdFile(scene))
    const { code, stderr } = await takeOver(scene, '--yes', ...BETA).ended
    expect(code).toBe(69)
    expect(stderr).toContain('cannot be kept')
    expect(stderr).not.toContain('is kept for this channel')
  })
})

describe('take-over of an older build', () => {
  test('that does not know the request (404): exit 75, it goes on, and nothing is left behind', async ({
    scene
  }) => {
    const pid = leaseOfOlderBuild(scene)
    const older = await olderBuild(scene, { pid, release: { status: 404, body: { error: 'not found' } } })
    const before = readFileSync(scene.leaseFile())
    const { code, stderr } = await takeOver(scene, '--yes').ended
    expect(code).toBe(75)
    expect(stderr).toContain('too old to be asked')
    expect(older.asked()).toBe(1)
    expect(readFileSync(scene.leaseFile())).toEqual(before)
    expect(holdOf(scene)).toBeUndefined()
  })

  test('that lets go: the agent is kept for us, although it places no hold', async ({ scene }) => {
    const pid = leaseOfOlderBuild(scene)
    await olderBuild(scene, {
      pid,
      release: { status: 200, body: { ok: true, released: 1 }, before: () => removeLeaseFile(scene) }
    })
    expect((await takeOver(scene, '--yes', ...BETA).ended).code).toBe(0)
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta' })
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(75)
  })

  test('that runs it without a lease: found by its UID and asked', async ({ scene }) => {
    const older = await olderBuild(scene, {
      pid: anotherProcess(scene).pid,
      registrations: [scene.uid],
      release: { status: 200, body: { ok: true, released: 1 }, before: () => older.forget() }
    })
    const { code, stdout } = await takeOver(scene, '--yes', '--json').ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout).takeOver).toMatchObject({ kind: 'released', fromChannel: 'older' })
    expect(older.asked()).toBe(1)
  })

  test('that refuses: exit 75 with its words', async ({ scene }) => {
    const pid = leaseOfOlderBuild(scene)
    await olderBuild(scene, { pid, release: { status: 409, body: { error: 'busy with a release' } } })
    const { code, stderr } = await takeOver(scene, '--yes').ended
    expect(code).toBe(75)
    expect(stderr).toContain('busy with a release')
    expect(holdOf(scene)).toBeUndefined()
  })

  test('that never answers: exit 124 after 25 s, it goes on, and nothing is left behind', async ({
    scene
  }) => {
    const pid = leaseOfOlderBuild(scene)
    await olderBuild(scene, { pid, release: undefined })
    const before = readFileSync(scene.leaseFile())
    const { code, stderr } = await takeOver(scene, '--yes', ...BETA).ended
    expect(code).toBe(124)
    expect(stderr).toContain('was not taken over')
    expect(readFileSync(scene.leaseFile())).toEqual(before)
    expect(holdOf(scene)).toBeUndefined()
  })

  test('that never answers, broken off with Ctrl-C: exit 130, and nothing is left behind', async ({
    scene
  }) => {
    const pid = leaseOfOlderBuild(scene)
    const older = await olderBuild(scene, { pid, release: undefined })
    const before = readFileSync(scene.leaseFile())
    const taking = takeOver(scene, '--yes')
    await until('it is asked', () => older.asked() === 1)
    expect(holdOf(scene)).toBeDefined()
    taking.signal('SIGINT')
    expect((await taking.ended).code).toBe(130)
    expect(holdOf(scene)).toBeUndefined()
    expect(readFileSync(scene.leaseFile())).toEqual(before)
  })
})

describe('run --take-over', () => {
  test('moves the agent of another channel’s run: the next epoch, and never two at once', async ({
    scene
  }) => {
    const polled = await pollClaims(scene)
    const { run, agent } = await holder(scene, scene.agent('holder', '--session-child', 'daemon'))
    const daemon = await scene.audited('daemon', 'begin')
    await polled.sees(agent.claim)
    const stop = scene.newPath('stop')
    const next = scene.run(scene.agent('next', '--until', stop), { flags: [...BETA, '--take-over', '--yes'] })
    const taken = await scene.audited('next', 'begin')
    expect(taken.epoch).toBe(Number(agent.epoch) + 1)
    expect([agent.pid, daemon.pid].map(lives)).toEqual([false, false])
    expect((await run.ended).code).toBe(76)
    await polled.sees(taken.claim)
    scene.trigger(stop)
    expect((await next.ended).code).toBe(0)
    expect(await polled.end()).toMatchObject({
      claims: [agent.claim, taken.claim],
      overlaps: [],
      uncovered: []
    })
    expect(holdOf(scene)).toBeUndefined()
  })

  test('of an agent that nobody drives: runs it', async ({ scene }) => {
    const run = scene.run(['sh', '-c', 'exit 3'], { flags: ['--take-over', '--yes'] })
    expect((await run.ended).code).toBe(3)
    expect(holdOf(scene)).toBeUndefined()
  })

  for (const [whose, flags] of [
    ['another channel', BETA],
    ['the same channel', []]
  ] as const) {
    test(`a supervisor that restarts the old run at once does not win it back from ${whose}`, async ({
      scene
    }) => {
      const old = await supervised(scene, scene.agent('holder'))
      await scene.audited('holder', 'begin')
      const next = scene.run(scene.agent('next'), { flags: [...flags, '--take-over', '--yes'] })
      const taken = await scene.audited('next', 'begin')
      await until('the supervisor has tried again', () => old.codes().length >= 4)
      expect(lives(taken.pid)).toBe(true)
      expect(old.codes()[0]).toBe(76)
      expect(new Set(old.codes().slice(1))).toEqual(new Set([75]))
      expect(
        scene.auditLines().filter(({ event, name }) => event === 'begin' && name === 'holder')
      ).toHaveLength(1)
      old.program.signal('SIGKILL')
      next.signal('SIGTERM')
      await next.ended
    })
  }

  test('a supervisor is turned away during the hold of a take-over, too, and told to whom it went', async ({
    scene
  }) => {
    const old = await supervised(scene, scene.agent('holder'))
    expect((await takeOver(scene, '--yes', ...BETA).ended).code).toBe(0)
    await until('the supervisor has tried again', () => old.codes().length >= 4)
    expect(old.codes()[0]).toBe(76)
    expect(new Set(old.codes().slice(1))).toEqual(new Set([75]))
    expect(isAdmissionRefusal(old.program.stderr)).toBe(true)
    expect(
      old.program.stderr.match(/was taken over by another AgentMux instance .*channel beta/g)?.length
    ).toBeGreaterThan(2)
    old.program.signal('SIGKILL')
    expect((await scene.run(['true'], { flags: [...BETA, '-n'] }).ended).code).toBe(0)
  })

  test('a command that cannot be started: the agent is free, and kept for nobody', async ({ scene }) => {
    const { run } = await holder(scene)
    const broken = scene.newPath('broken')
    writeFileSync(broken, '#!/none/interpreter\n', { mode: 0o755 })
    const { code } = await scene.run([broken], { flags: [...BETA, '--take-over', '--yes'] }).ended
    expect([126, 127]).toContain(code)
    expect((await run.ended).code).toBe(76)
    expect(holdOf(scene)).toBeUndefined()
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('a command that is not there: exit 127, and the holder is left alone', async ({ scene }) => {
    const { run, agent } = await holder(scene)
    expect((await scene.run(['no-such-command'], { flags: ['--take-over', '--yes'] }).ended).code).toBe(127)
    await scene.beatsAgain(agent.pid)
    run.signal('SIGTERM')
  })

  test('SIGTERM while the holder ends: exit 143, nothing is started, and nothing is left behind', async ({
    scene
  }) => {
    const { run } = await holder(scene, scene.agent('holder', '--ignore', 'SIGTERM'))
    const next = scene.run(scene.agent('next'), { flags: [...BETA, '--take-over', '--yes'] })
    await scene.audited('holder', 'signal')
    next.signal('SIGTERM')
    expect((await next.ended).code).toBe(143)
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(76)
    expect(holdOf(scene)).toBeUndefined()
    expect(scene.auditLines().filter(({ name }) => name === 'next')).toEqual([])
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('-E chooses the exit code where it stays elsewhere', async ({ scene }) => {
    leaseOfOlderBuild(scene)
    expect((await scene.run(['true'], { flags: ['--take-over', '--yes', '-E', '9'] }).ended).code).toBe(9)
  })
})

describe('a take-over is confirmed by a person', () => {
  test('nobody at a terminal and no --yes: exit 64, and the holder is left alone', async ({ scene }) => {
    const { run, agent } = await holder(scene)
    for (const asking of [takeOver(scene), scene.run(['true'], { flags: ['--take-over'] })]) {
      const { code, stderr } = await asking.ended
      expect(code).toBe(64)
      expect(stderr).toContain('add --yes')
    }
    await scene.beatsAgain(agent.pid)
    run.signal('SIGTERM')
  })

  test('at a terminal: asks, naming the holder, and does it after a yes', async ({ scene }) => {
    const { run } = await holder(scene)
    const shell = new ShellOnTerminal(scene)
    shell.enter(
      scene
        .words(['take-over', scene.uid, ...BETA])
        .map(quoted)
        .join(' ')
    )
    await shell.program.prints(new RegExp(`pid ${run.pid}.*Take it over\\? \\[y/N\\]`, 's'))
    expect(run.running).toBe(true)
    shell.enter('y')
    await shell.program.prints(/kept for this channel/)
    expect(await shell.lastExit()).toBe(0)
    expect((await run.ended).code).toBe(76)
  })

  for (const [what, key, code] of [
    ['no', 'n\r', 75],
    ['nothing', '\r', 75],
    ['Ctrl-D', CTRL_D, 75],
    ['Ctrl-C', CTRL_C, 130]
  ] as const) {
    test(`${what} changes nothing: exit ${code}`, async ({ scene }) => {
      const { run, agent } = await holder(scene)
      const shell = new ShellOnTerminal(scene)
      shell.run(['true'], { flags: ['--take-over', ...BETA] })
      await shell.program.prints(/Take it over\? \[y\/N\]/)
      shell.program.type(key)
      // What is typed next is for the shell again.
      await shell.program.prints(/Take it over\?.*[\r\n](ready>|#|\$) $/s)
      expect(await shell.lastExit()).toBe(code)
      await scene.beatsAgain(agent.pid)
      expect(holdOf(scene)).toBeUndefined()
      run.signal('SIGTERM')
    })
  }

  const FROM_WITHIN: readonly (readonly [string, readonly string[]])[] = [
    ['as it is', []],
    ['with an environment of its own', ['env', '-i', 'PATH=/usr/bin:/bin']],
    ['in a session of its own', ['setsid', '--wait']]
  ]
  for (const [how, via] of FROM_WITHIN) {
    test(`from inside a pane, ${how}: exit 64, --yes or not, and the holder is left alone`, async ({
      scene
    }) => {
      const { run, agent } = await holder(scene)
      const shared = ['--shared-dir', scene.shared]
      for (const flags of [['--yes'], []]) {
        const inner = scene.words(['take-over', scene.uid, ...shared, ...flags], { via })
        const pane = scene.run(inner, { uid: `${scene.uid}-pane` })
        const { code, stderr } = await pane.ended
        expect(code).toBe(64)
        expect(stderr).toContain('inside a pane')
      }
      await scene.beatsAgain(agent.pid)
      run.signal('SIGTERM')
    })
  }

  test('from inside a pane, on a terminal that the agent has made: exit 64', async ({ scene }) => {
    const { run, agent } = await holder(scene)
    const pty = new URL('./fixtures/pty.py', import.meta.url).pathname
    const inner = scene.words(['take-over', scene.uid])
    const pane = scene.run(
      ['sh', '-c', 'exec "$@" 3< /dev/null', 'sh', 'python3', '-I', pty, '24', '80', ...inner],
      {
        uid: `${scene.uid}-pane`
      }
    )
    const { code, stdout } = await pane.ended
    expect(code).toBe(64)
    expect(stdout).toContain('inside a pane')
    await scene.beatsAgain(agent.pid)
    run.signal('SIGTERM')
  })

  test('from inside a pane whose own terminal a person is at: asks; --yes is refused', async ({ scene }) => {
    const { run } = await holder(scene)
    const shell = new ShellOnTerminal(scene)
    shell.run(['sh', '-i'], { uid: `${scene.uid}-pane` })
    await scene.leaseOf(`${scene.uid}-pane`)
    const words = (...flags: string[]) =>
      scene
        .words(['take-over', scene.uid, ...BETA, ...flags])
        .map(quoted)
        .join(' ')
    shell.enter(words('--yes'))
    expect(await shell.lastExit()).toBe(64)
    expect(run.running).toBe(true)
    shell.enter(words())
    await shell.program.prints(/Take it over\? \[y\/N\]/)
    shell.enter('yes')
    await shell.program.prints(/kept for this channel/)
    expect((await run.ended).code).toBe(76)
  })
})

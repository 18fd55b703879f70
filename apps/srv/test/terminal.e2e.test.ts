/** A command on a terminal keeps it: its keys, its size, its job control. Nothing is sent to it twice. */
import { describe, expect } from 'vitest'
import { lives, parentOf, sessionOf, stateOf } from './harness/processes.js'
import { type AuditLine, type Scene, test } from './harness/scene.js'
import { standIn } from './harness/stand-in.js'
import { CTRL_BACKSLASH, CTRL_C, CTRL_Z, onTerminal, ShellOnTerminal } from './harness/terminal.js'
import { until } from './harness/until.js'

function heard(scene: Scene, name = 'agent'): (string | undefined)[] {
  return scene
    .auditLines()
    .flatMap((line) => (line.name === name && line.event === 'signal' ? [line.signal] : []))
}

/** The run that started an agent: it has to be there to be signalled. */
function runOf(agent: AuditLine): number {
  return parentOf(agent.pid)
}

describe('run, on a terminal', () => {
  test('Ctrl-C reaches the command once, by itself, and the exit status is the command’s', async ({
    scene
  }) => {
    const killLog = scene.newPath('kill-log')
    const shell = new ShellOnTerminal(scene, standIn(scene, { killLog }))
    shell.run(scene.agent())
    const agent = await scene.audited('agent', 'begin')
    const run = runOf(agent)
    shell.program.type(CTRL_C)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(130)
    expect(heard(scene)).toEqual(['SIGINT'])
    const sent = scene.lines(killLog).filter((line) => line.startsWith(`${run} `))
    expect(sent).toEqual([])
    expect((await scene.run(['true']).ended).code).toBe(0)
  })

  test('a command that goes on after Ctrl-C goes on, and hears every one once', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const shell = new ShellOnTerminal(scene)
    shell.run(
      scene.agent('agent', '--ignore', 'SIGINT', '--ignore', 'SIGQUIT', '--until', stop, '--exit', '5')
    )
    const agent = await scene.audited('agent', 'begin')
    for (const [count, key] of [CTRL_C, CTRL_C, CTRL_BACKSLASH].entries()) {
      shell.program.type(key)
      await until('it hears the key', () => heard(scene).length === count + 1)
    }
    await scene.beatsAgain(agent.pid)
    scene.trigger(stop)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(5)
    expect(heard(scene)).toEqual(['SIGINT', 'SIGINT', 'SIGQUIT'])
  })

  test('it shares our group and session, and sees the window’s size and its changes', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent('agent', '--until', stop))
    const agent = await scene.audited('agent', 'begin')
    expect(agent.size).toEqual([80, 24])
    expect(sessionOf(agent.pid)).toBe(sessionOf(runOf(agent)))
    shell.program.control('size 40 132')
    expect((await scene.audited('agent', 'size')).size).toEqual([132, 40])
    scene.trigger(stop)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(0)
  })

  test('Ctrl-Z stops it, fg continues it with the same lease', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent('agent', '--until', stop, '--exit', '3'))
    const agent = await scene.audited('agent', 'begin')
    const { claim_id: claim } = scene.lease()
    for (let round = 1; round <= 2; round++) {
      shell.program.type(CTRL_Z)
      await until('both are stopped', () => stateOf(agent.pid) === 'T' && stateOf(runOf(agent)) === 'T')
      shell.enter(`echo "round=$((${round}+0))."`)
      await shell.program.prints(new RegExp(`round=${round}\\.`))
      shell.enter('fg')
      await until('both go on', () => stateOf(agent.pid) !== 'T' && stateOf(runOf(agent)) !== 'T')
      await scene.beatsAgain(agent.pid)
    }
    expect(scene.lease().claim_id).toBe(claim)
    scene.trigger(stop)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(3)
    expect(heard(scene).filter((signal) => signal !== 'SIGCONT')).toEqual([])
  })

  test('a command that stops itself, as one that reads Ctrl-Z as a key, is a stopped job to the shell; fg continues it', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent('agent', '--until', stop, '--stop-itself-on', 'SIGUSR1'))
    const agent = await scene.audited('agent', 'begin')
    for (let round = 1; round <= 2; round++) {
      process.kill(agent.pid, 'SIGUSR1')
      // The shell has the terminal again: it answers.
      shell.enter(`echo "round=$((${round}+0))."`)
      await shell.program.prints(new RegExp(`round=${round}\\.`))
      expect([stateOf(agent.pid), stateOf(runOf(agent))]).toEqual(['T', 'T'])
      shell.enter('fg')
      await until('both go on', () => stateOf(agent.pid) !== 'T' && stateOf(runOf(agent)) !== 'T')
      await scene.beatsAgain(agent.pid)
    }
    scene.trigger(stop)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(0)
  })

  test('SIGTERM to the run is forwarded once', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent('agent', '--ignore', 'SIGTERM', '--until', stop))
    const agent = await scene.audited('agent', 'begin')
    process.kill(runOf(agent), 'SIGTERM')
    await scene.audited('agent', 'signal')
    await scene.beatsAgain(agent.pid)
    scene.trigger(stop)
    await scene.audited('agent', 'end')
    expect(await shell.lastExit()).toBe(0)
    expect(heard(scene)).toEqual(['SIGTERM'])
  })

  test('the terminal closes under a shell: the command hears SIGHUP, and the agent comes free', async ({
    scene
  }) => {
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent())
    const agent = await scene.audited('agent', 'begin')
    const run = runOf(agent)
    shell.program.control('hangup')
    await until('the command and its run are gone', () => !lives(agent.pid) && !lives(run))
    // A shell that ends its jobs may wake them first.
    expect(heard(scene).filter((signal) => signal !== 'SIGCONT')).toEqual(['SIGHUP'])
    expect(scene.auditLines().at(-1)).toMatchObject({ event: 'end' })
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('the terminal closes under a run that leads its session: SIGHUP is passed on, once', async ({
    scene
  }) => {
    const terminal = onTerminal(scene, scene.runWords(scene.agent()))
    const agent = await scene.audited('agent', 'begin')
    const run = runOf(agent)
    expect(sessionOf(run)).toBe(run)
    terminal.control('hangup')
    await until('the command and its run are gone', () => !lives(agent.pid) && !lives(run))
    expect(heard(scene).filter((signal) => signal !== 'SIGCONT')).toEqual(['SIGHUP'])
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('a command that outlives its terminal keeps its lease', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const terminal = onTerminal(
      scene,
      scene.runWords(scene.agent('agent', '--ignore', 'SIGHUP', '--until', stop))
    )
    const agent = await scene.audited('agent', 'begin')
    const run = runOf(agent)
    terminal.control('hangup')
    await scene.audited('agent', 'signal')
    await scene.beatsAgain(agent.pid)
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(75)
    scene.trigger(stop)
    await until('both have ended', () => !lives(agent.pid) && !lives(run))
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('waiting shows one line that is rewritten, and cleared before the command starts', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const holder = scene.run(scene.agent('holder', '--until', stop))
    await scene.audited('holder', 'begin')
    const terminal = onTerminal(
      scene,
      scene.runWords(['echo', 'started'], { flags: ['--wait', '--agent', 'Agent3'] })
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what is written to a terminal
    const line = /\r\x1b\[K\x1b\[\?7lagentmux-srv: Waiting for "?Agent3"?.*?\x1b\[\?7h/
    await terminal.prints(line)
    await terminal.prints(new RegExp(`(${line.source}){2}`))
    scene.trigger(stop)
    await terminal.ended
    await holder.ended
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what is written to a terminal
    expect(terminal.stdout).toMatch(/\x1b\[\?7h\r\x1b\[Kstarted\r\n$/)
    expect(terminal.stdout.trimEnd()).not.toContain('\n')
  })

  test('Ctrl-C ends a run that waits, and it has started nothing', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const holder = scene.run(scene.agent('holder', '--until', stop))
    await scene.audited('holder', 'begin')
    const shell = new ShellOnTerminal(scene)
    shell.run(scene.agent('newcomer'), { flags: ['--wait'] })
    await shell.program.prints(/Waiting for/)
    shell.program.type(CTRL_C)
    expect(await shell.lastExit()).toBe(130)
    scene.trigger(stop)
    expect((await holder.ended).code).toBe(0)
    expect(scene.auditLines().filter(({ name }) => name === 'newcomer')).toEqual([])
  })

  test('after a loss the terminal is usable again, and the exit status is 76', async ({ scene }) => {
    const shell = new ShellOnTerminal(scene)
    shell.run(['sh', '-c', 'stty raw -echo; exec "$@"', 'sh', ...scene.agent()])
    await scene.audited('agent', 'begin')
    await scene.removeLease()
    await scene.audited('agent', 'end')
    await shell.program.prints(/lost its single-instance lease/)
    // In raw mode the shell would not see the end of a line.
    expect(await shell.lastExit()).toBe(76)
    shell.enter('stty -a')
    await shell.program.prints(/[^-]icanon/)
  })
})

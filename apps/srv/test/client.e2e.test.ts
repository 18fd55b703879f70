/** The command line and the running daemon: open, send, follow, close, agents, and what they say where there is none. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { registered } from './harness/instance.js'
import { lives } from './harness/processes.js'
import { fixture, type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

const AGENT = [process.execPath, fixture('line-agent.mjs')]

function open(scene: Scene, flags: readonly string[] = [], command: readonly string[] = AGENT) {
  return scene.cli(['open', '--uid', scene.uid, ...flags, '--', ...command]).ended
}

/** The block id of a pane whose agent has begun. */
async function opened(scene: Scene, daemon: Daemon, flags: readonly string[] = []): Promise<string> {
  const { code, stdout, stderr } = await open(scene, flags)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const block = stdout.trim()
  await daemon.says(block, 'begun')
  return block
}

describe('the commands that ask the daemon', () => {
  test('open, send, follow, close: one agent from its begin to its end', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const block = await opened(scene, daemon, ['--agent', 'Ada'])
    const watching = scene.cli(['follow', block])
    await watching.prints(/begun/)
    expect(await scene.cli(['send', block, 'first']).ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await watching.prints(/> first\n/)
    const sent = await scene.cli(['send', block, '--json', '--', '-v']).ended
    expect(JSON.parse(sent.stdout)).toMatchObject({ position: expect.any(Number), epoch: 1 })
    await watching.prints(/> -v\n/)

    const table = await scene.cli(['agents']).ended
    expect(table.stdout).toMatch(/^BLOCK +AGENT +STATE/)
    expect(table.stdout).toContain(`Ada (${scene.uid})`)
    expect(table.stdout).toContain('running')
    const [pane] = JSON.parse((await scene.cli(['agents', '--json']).ended).stdout).agents
    expect(pane).toMatchObject({ block_id: block, uid: scene.uid, agent: 'Ada', state: 'running', epoch: 1 })

    expect(await scene.cli(['close', block]).ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(lives(pane.pid)).toBe(false)
    expect(scene.exists(scene.leaseFile())).toBe(false)
    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' })
    const late = await scene.cli(['send', block, 'late']).ended
    expect(late.code).toBe(69)
    expect(late.stderr).toContain('has ended')
    const after = await scene.cli(['follow', block, '--once']).ended
    expect(after.code).toBe(0)
    expect(after.stdout).toContain('> first\n')
  })

  test('send takes a turn of several lines from stdin', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const block = await opened(scene, daemon)
    const sending = scene.cli(['send', block, '-'], { spawn: { stdio: ['pipe', 'pipe', 'pipe'] } })
    sending.type('one\ntwo')
    sending.endInput()
    expect((await sending.ended).code).toBe(0)
    await daemon.says(block, 'two')
  })

  test('open gives the command its folder and variables, and no key', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const folder = scene.newPath('work')
    mkdirSync(folder)
    const script = 'echo "in $(pwd), $COLOUR=$COLOUR, begun"; env > env; cat'
    const { stdout, code } = await open(
      scene,
      ['--cwd', folder, '--env', 'COLOUR=blue'],
      ['sh', '-c', script]
    )
    expect(code).toBe(0)
    await daemon.says(stdout.trim(), `in ${folder}, blue=blue, begun`)
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain(daemon.key)
  })

  test('open of an agent that a run holds: exit 75, the holder named; as data with --json', async ({
    scene
  }) => {
    await Daemon.start(scene)
    const run = scene.run(scene.agent())
    await scene.audited('agent', 'begin')
    await registered(scene)
    const { code, stdout, stderr } = await open(scene)
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
    expect(stderr).toContain(`pid ${run.pid}`)
    const data = await open(scene, ['--json'])
    expect(data.code).toBe(75)
    expect(parseRefusal(JSON.parse(data.stdout).refusal)).toMatchObject({
      kind: 'held',
      holder: { pid: run.pid }
    })
    run.signal('SIGTERM')
  })

  test('open of a command that is not there: exit 127', async ({ scene }) => {
    await Daemon.start(scene)
    const { code, stderr } = await open(scene, [], ['no-such-command'])
    expect(code).toBe(127)
    expect(stderr).toContain('no-such-command')
  })

  test('a block that does not exist: exit 64', async ({ scene }) => {
    await Daemon.start(scene)
    for (const args of [
      ['send', 'none', 'x'],
      ['close', 'none'],
      ['follow', '../none'],
      ['follow', 'none', '--once']
    ]) {
      const { code, stderr } = await scene.cli(args).ended
      expect({ args, code }).toEqual({ args, code: 64 })
      expect(stderr).toContain('no such pane')
    }
  })

  test('a pane that lost its agent to a person: send says to whom, agents shows it, follow still reads', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene)
    const block = await opened(scene, daemon)
    const taking = await scene.cli(['take-over', scene.uid, '--yes', '--channel', 'beta']).ended
    expect(taking.code).toBe(0)
    const sent = await scene.cli(['send', block, 'x']).ended
    expect(sent.code).toBe(76)
    expect(sent.stderr).toContain('was taken over by another AgentMux instance')
    const { stdout } = await scene.cli(['agents']).ended
    expect(stdout).toContain('superseded')
    expect(stdout).toContain('channel beta')
    expect((await scene.cli(['follow', block, '--once']).ended).stdout).toContain('begun')
    const followed = await scene.cli(['follow', block]).ended
    expect(followed).toMatchObject({ code: 0, stdout: expect.stringContaining('begun') })
    expect(followed.stderr).toContain('was taken over by another AgentMux instance')
  })

  test('a run takes an agent from a daemon, and a daemon of its channel passes a request on to a run', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene)
    const block = await opened(scene, daemon)
    const run = scene.run(scene.agent('taken'), { flags: ['--take-over', '--yes', '--channel', 'beta'] })
    const taken = await scene.audited('taken', 'begin')
    expect(taken.epoch).toBe(2)
    // The record turns the pane's late output away.
    const epochFile = join(scene.shared, 'agents', 'records', scene.uid, 'epoch')
    expect(readFileSync(epochFile, 'utf8').trim()).toBe('2')
    expect((await daemon.pane(block)).state).toBe('superseded')
    await registered(scene, scene.uid, 'beta')
    const beta = await Daemon.start(scene, 'beta')
    const released = await beta.ask('/agentmux/agent/release', {
      uid: scene.uid,
      requested_by_channel: 'stable',
      requested_by_version: '0.0.0'
    })
    expect(released).toEqual({ status: 200, body: { ok: true, released: 1 } })
    expect((await run.ended).code).toBe(76)
  })

  test('follow ends with Ctrl-C: exit 130', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const watching = scene.cli(['follow', await opened(scene, daemon), '--json'])
    await watching.prints(/"kind":"line"/)
    watching.signal('SIGINT')
    expect((await watching.ended).code).toBe(130)
  })

  test('their output never holds the daemon’s key', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const block = await opened(scene, daemon)
    for (const args of [
      ['agents'],
      ['agents', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['follow', block, '--once']
    ]) {
      const { stdout, stderr } = await scene.cli(args).ended
      expect(stdout + stderr).not.toContain(daemon.key)
    }
  })
})

describe('without a daemon', () => {
  const COMMANDS = [
    ['agents'],
    ['send', 'block', 'x'],
    ['close', 'block'],
    ['follow', 'block'],
    ['open', '--uid', 'x', '--', 'true']
  ]

  test('they say how to start one: exit 69, also as data, and nothing is made', async ({ scene }) => {
    for (const args of COMMANDS) {
      const { code, stdout, stderr } = await scene.cli(args).ended
      expect({ args, code, stdout }).toEqual({ args, code: 69, stdout: '' })
      expect(stderr).toContain('no daemon of channel stable runs')
      expect(stderr).toContain('agentmux-srv serve')
    }
    const { stdout } = await scene.cli(['agents', '--json']).ended
    expect(JSON.parse(stdout).error).toMatchObject({ exitCode: 69 })
    expect(scene.exists(scene.shared)).toBe(false)
  })

  test('one that was killed: exit 69, and how to start one', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    daemon.program.signal('SIGKILL')
    await daemon.program.ended
    const { code, stderr } = await scene.cli(['agents']).ended
    expect(code).toBe(69)
    expect(stderr).toContain('agentmux-srv serve')
  })

  test('a daemon file that others may write, or that points elsewhere, is not believed', async ({
    scene
  }) => {
    const path = join(scene.shared, 'agents', 'srv', 'stable.json')
    mkdirSync(dirname(path), { recursive: true })
    const file = (url: string) =>
      JSON.stringify({ url, auth_key: 'k'.repeat(64), pid: 1, version: '0', started_at: 1 })
    writeFileSync(path, file('http://127.0.0.1:1'), { mode: 0o666 })
    chmodSync(path, 0o666)
    const loose = await scene.cli(['agents']).ended
    expect(loose.code).toBe(69)
    expect(loose.stderr).toContain('others may read or write it')
    chmodSync(path, 0o600)
    writeFileSync(path, file('http://192.0.2.1:80'))
    const elsewhere = await scene.cli(['agents']).ended
    expect(elsewhere.code).toBe(69)
    expect(elsewhere.stderr).toContain('is not believed')
  })

  test('one that runs and whose file is open to others: whoever asks, starts or looks hears what to run, and it helps', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene)
    chmodSync(daemon.path, 0o644)
    const command = `chmod 600 ${daemon.path}`
    for (const args of [['agents'], ['open', '--uid', scene.uid, '--', 'true'], ['serve'], ['doctor']]) {
      const { stdout, stderr } = await scene.cli(args).ended
      expect(`${stdout}${stderr}`).toContain(`its file ${daemon.path} is not believed: others may read`)
      expect(`${stdout}${stderr}`).toContain(command)
      expect(`${stdout}${stderr}`).not.toMatch(/start one|no daemon of channel|about to/)
    }
    expect((await scene.cli(['serve']).ended).stderr).toContain(`pid ${daemon.program.pid}`)
    await scene.start(command.split(' ')).ended
    expect((await scene.cli(['agents']).ended).code).toBe(0)
  })

  test('one that runs and whose file is gone: serve names its process, and what to do', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    rmSync(daemon.path)
    const { code, stderr } = await scene.cli(['serve']).ended
    expect(code).toBe(75)
    expect(stderr).toContain(`pid ${daemon.program.pid}`)
    expect(stderr).toContain('its file was removed: end it and start it anew')
  })

  test('one of a channel whose files have the same name is not asked, and not taken for a second', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene, 'a_b')
    const channel = ['--channel', 'a/b']
    for (const [args, exit] of [
      [['agents', ...channel], 69],
      [['open', ...channel, '--uid', scene.uid, '--', 'true'], 69],
      [['serve', ...channel], 75],
      [['doctor', ...channel], 0]
    ] as const) {
      const { code, stdout, stderr } = await scene.cli(args).ended
      expect({ args, code }).toEqual({ args, code: exit })
      expect(`${stdout}${stderr}`).toContain(
        `the daemon at ${daemon.url} (pid ${daemon.program.pid}) is that of channel a_b`
      )
      expect(`${stdout}${stderr}`).toContain('channel a/b')
      expect(`${stdout}${stderr}`).toContain('--channel')
    }
    expect((await daemon.ask('/api/v1/agents')).body).toEqual({ agents: [] })
  })

  test('a stopped one: Ctrl-C ends the question', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    daemon.program.signal('SIGSTOP')
    const asking = scene.cli(['open', '--uid', scene.uid, '--', 'true'])
    await until('it is connected', () => connected(asking.pid))
    asking.signal('SIGINT')
    expect((await asking.ended).code).toBe(130)
    daemon.program.signal('SIGCONT')
  })
})

/** Whether a process has an established TCP connection: a socket of its own in the network's table in state 01. */
function connected(pid: number): boolean {
  const sockets = readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? []
    } catch {
      return []
    }
  })
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(([, , , state, , , , , , inode]) => state === '01' && sockets.includes(inode ?? ''))
}

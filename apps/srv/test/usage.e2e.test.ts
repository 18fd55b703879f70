/** Mistakes on the command line: found before anything is claimed, named, and with an example. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { HELD_TO_PERMISSIONS } from './harness/held-to-permissions.js'
import { test } from './harness/scene.js'

const UID = ['--uid', '7c0e2f']

const MISTAKES: readonly (readonly [string, readonly string[], string])[] = [
  ['no --uid', ['run', '--', 'true'], '--uid'],
  ['--uid without a value', ['run', '--uid'], '--uid'],
  ['--uid that swallows the --', ['run', '--uid', '--', 'true'], '--uid'],
  ['no command', ['run', ...UID, '--'], 'command'],
  ['an empty command', ['run', ...UID, '--', ''], 'no command after --'],
  ['a flag that does not exist', ['run', ...UID, '--forse', '--', 'true'], '--forse'],
  ['--wait with a word', ['run', ...UID, '--wait=soon', '--', 'true'], '--wait'],
  ['--wait with a command that was meant to follow --', ['run', ...UID, '--wait', 'claude'], '--wait'],
  ['--wait below zero', ['run', ...UID, '--wait=-1', '--', 'true'], '--wait'],
  ['-n with --wait', ['run', ...UID, '-n', '--wait', '--', 'true'], "'-n' cannot be used with '--wait'"],
  ['--yes without --take-over', ['run', ...UID, '--yes', '--', 'true'], "'--yes' cannot be used without"],
  ['take-over without a UID', ['take-over'], 'uid'],
  ['-E with a word', ['run', ...UID, '-E', 'x', '--', 'true'], '-E'],
  ['-E above 255', ['run', ...UID, '-E', '256', '--', 'true'], '-E'],
  ['--grace with a word', ['run', ...UID, '--grace', 'long', '--', 'true'], '--grace'],
  ['an empty --agent', ['run', ...UID, '--agent', ' ', '--', 'true'], '--agent'],
  ['an --agent with a terminal sequence', ['run', ...UID, '--agent', 'a\u001b[2Jb', '--', 'true'], '--agent'],
  ['an --agent of two lines', ['run', ...UID, '--agent', 'a\nb', '--', 'true'], '--agent'],
  ['an --agent that is too long', ['run', ...UID, '--agent', 'é'.repeat(65), '--', 'true'], '--agent'],
  ['open: an --agent of two lines', ['open', ...UID, '--agent', 'a\r\nb', '--', 'true'], '--agent'],
  [
    'open: an --agent that is too long',
    ['open', ...UID, '--agent', 'x'.repeat(129), '--', 'true'],
    '--agent'
  ],
  ['take-over: an --agent of two lines', ['take-over', '7c0e2f', '--agent', 'a\nb'], '--agent'],
  ['a --channel of two lines', ['run', ...UID, '--channel', 'a\nb', '--', 'true'], '--channel'],
  ['an empty --shared-dir', ['run', ...UID, '--shared-dir', '', '--', 'true'], '--shared-dir'],
  ['a --channel that is too long', ['run', ...UID, '--channel', 'x'.repeat(65), '--', 'true'], '--channel'],
  ['a flag that status does not have', ['status', '--uid', 'x'], '--uid'],
  ['an argument that status does not have', ['status', 'x'], 'status'],
  ['a command that does not exist', ['runn'], 'runn'],
  ['nothing at all', [], 'run']
]

describe('agentmux-srv', () => {
  for (const [what, args, named] of MISTAKES) {
    test(`${what}: exit 64, named, with an example`, async ({ scene }) => {
      const { code, stdout, stderr } = await scene.cli(args).ended
      expect(code).toBe(64)
      expect(stdout).toBe('')
      expect(stderr).toContain(named)
      expect(stderr).toMatch(
        /Example:\s+agentmux-srv (run --uid 7c0e2f|open --uid 7c0e2f|status|take-over 7c0e2f)/
      )
      expect(existsSync(scene.shared)).toBe(false)
    })
  }

  test('a channel in the environment that is too long: exit 64, named', async ({ scene }) => {
    const { code, stderr } = await scene.run(['true'], {
      environment: { AGENTMUX_CHANNEL: 'x'.repeat(5_000) }
    }).ended
    expect(code).toBe(64)
    expect(stderr).toContain('AGENTMUX_CHANNEL')
  })

  test('a mistake is data, too, with --json', async ({ scene }) => {
    const { code, stdout, stderr } = await scene.cli(['run', '--json', '--grace', 'x', ...UID, '--', 'true'])
      .ended
    expect(code).toBe(64)
    expect(JSON.parse(stdout).error).toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('--grace')
    })
    expect(stderr).toContain('Example:')
  })

  test('--json after the -- is the command’s own', async ({ scene }) => {
    const { code, stdout } = await scene.cli(['run', '--grace', 'x', ...UID, '--', 'true', '--json']).ended
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  })

  for (const [args, shown] of [
    [['--help'], 'agentmux-srv run --uid 7c0e2f --agent Agent3 -- claude'],
    [['run', '--help'], 'agentmux-srv run --uid 7c0e2f --wait=60 -- codex'],
    [['take-over', '--help'], 'agentmux-srv take-over 7c0e2f --yes'],
    [['status', '--help'], 'agentmux-srv status --json'],
    [['help', 'run'], '--grace']
  ] as const) {
    test(`${args.join(' ')}: exit 0, on stdout, with an example`, async ({ scene }) => {
      const { code, stdout, stderr } = await scene.cli(args).ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(shown)
    })
  }

  test('--version is the manifest’s', async ({ scene }) => {
    const { code, stdout } = await scene.cli(['--version']).ended
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
  })
})

describe('run, with a command that cannot be run', () => {
  test('not found: exit 127, and the agent was not claimed', async ({ scene }) => {
    for (const command of [
      'no-such-command',
      './no-such-file',
      '/none/at/all',
      `${scene.folder}/x`.repeat(300)
    ]) {
      const { code, stderr } = await scene.run([command]).ended
      expect(code).toBe(127)
      expect(stderr).toContain('nothing was started and the agent was not claimed')
    }
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('not executable, or a folder: exit 126, and the agent was not claimed', async ({ scene }) => {
    const file = scene.newPath('script')
    writeFileSync(file, 'echo')
    for (const command of [file, scene.folder]) {
      const { code, stderr } = await scene.run([command]).ended
      expect(code).toBe(126)
      expect(stderr).toContain('nothing was started and the agent was not claimed')
    }
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('as data with --json', async ({ scene }) => {
    const { code, stdout, stderr } = await scene.run(['no-such-command'], { flags: ['--json'] }).ended
    expect({ code, stderr }).toEqual({ code: 127, stderr: '' })
    expect(JSON.parse(stdout).error).toMatchObject({ exitCode: 127 })
  })

  test('a PATH with files, missing folders and non-executables in it: the command is found behind them', async ({
    scene
  }) => {
    const [good, bad] = [scene.newPath('good'), scene.newPath('bad')]
    for (const folder of [good, bad]) mkdirSync(folder)
    for (const folder of [good, bad]) writeFileSync(join(folder, 'my-agent'), `#!/bin/sh\necho ${folder}\n`)
    chmodSync(join(good, 'my-agent'), 0o755)
    const environment = { PATH: ['/etc/passwd', '/none', bad, good, process.env.PATH].join(':') }
    const { code, stdout } = await scene.run(['my-agent'], { environment }).ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${good}\n` })
    expect(
      (await scene.run(['my-agent'], { environment: { PATH: `${bad}:/usr/bin:/bin` } }).ended).code
    ).toBe(126)
  })

  test('a folder of PATH that is closed to us has nothing for us; a path into it is not executable', async ({
    scene
  }) => {
    const closed = scene.newPath('closed')
    mkdirSync(closed, { mode: 0o000 })
    const options = { via: HELD_TO_PERMISSIONS, environment: { PATH: `${closed}:/usr/bin:/bin` } }
    expect((await scene.run(['sh', '-c', 'exit 4'], options).ended).code).toBe(4)
    expect((await scene.run(['no-such-command'], options).ended).code).toBe(127)
    expect((await scene.run([join(closed, 'command')], options).ended).code).toBe(126)
  })

  test('what fails only at the start itself: exit 126, and the agent is free again', async ({ scene }) => {
    const broken = scene.newPath('broken')
    writeFileSync(broken, '#!/none/interpreter\n', { mode: 0o755 })
    const { code, stderr } = await scene.run([broken]).ended
    expect([126, 127]).toContain(code)
    expect(stderr).toContain('could not be started')
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('too many arguments for the system: exit 126, and the agent is free again', async ({ scene }) => {
    // The marks of the claim make the difference: what fits for us does not fit for the command any more.
    const { code, stderr } = await scene.run(['true'], {
      nodeFlags: ['--import', new URL('./fixtures/huge-environment.mjs', import.meta.url).pathname]
    }).ended
    expect(code).toBe(126)
    expect(stderr).toContain('E2BIG')
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })
})

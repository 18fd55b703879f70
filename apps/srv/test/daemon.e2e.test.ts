/** The life of a daemon: one per channel and shared folder, found by its file, and gone without a trace. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { Daemon } from './harness/daemon.js'
import { environmentOf, lives, processesWith } from './harness/processes.js'
import { type Scene, test } from './harness/scene.js'
import { until } from './harness/until.js'

const reactiveFiles = (scene: Scene) => {
  const folder = join(scene.shared, 'agents', 'reactive')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.json/.test(name))
}
const leaseFiles = (scene: Scene) => readdirSync(scene.leases).filter((name) => /\.lease\.json/.test(name))

describe.concurrent('a daemon', () => {
  test('prints where it answers, and its file, which nobody else can read, has the key', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene)
    expect(JSON.parse(daemon.program.stdout)).toEqual({
      url: daemon.url,
      channel: 'stable',
      pid: daemon.program.pid,
      version: expect.any(String)
    })
    expect(statSync(daemon.path).mode & 0o777).toBe(0o600)
    const { url, auth_key, pid, channel, version, started_at } = JSON.parse(readFileSync(daemon.path, 'utf8'))
    expect({ url, pid, channel }).toEqual({ url: daemon.url, pid: daemon.program.pid, channel: 'stable' })
    expect([typeof auth_key, typeof version, typeof started_at]).toEqual(['string', 'string', 'number'])
    expect((await daemon.ask('/api/v1/agents')).body).toEqual({ agents: [] })
    expect(`${daemon.program.stdout}${daemon.program.stderr}`).not.toContain(auth_key)
    const said = await daemon.program.says(/"event":"started".*\n/)
    expect(said.input.trimEnd().split('\n')).toHaveLength(1)
  })

  test('is the only one of its channel: a second says where it is; another channel runs beside it', async ({
    scene
  }) => {
    const daemon = await Daemon.start(scene)
    const before = readFileSync(daemon.path, 'utf8')
    const second = await scene.cli(['serve']).ended
    expect(second.code).toBe(75)
    expect(second.stderr).toContain(daemon.url)
    expect(second.stderr).toContain(`pid ${daemon.program.pid}`)
    expect(second.stdout).toBe('')
    expect(readFileSync(daemon.path, 'utf8')).toBe(before)
    const nightly = await Daemon.start(scene, 'nightly')
    expect(nightly.url).not.toBe(daemon.url)
  })

  test('where no folder can be made: exit 69, the folder named, at once', async ({ scene }) => {
    const { code, stdout, stderr } = await scene.cli(['serve', '--shared-dir', '/proc/none']).ended
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
    expect(stderr).toContain('the daemon could not be started')
    expect(stderr).toContain('/proc/none/agents/srv')
  })

  test('is still the only one while it is stopped', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    daemon.program.signal('SIGSTOP')
    expect((await scene.cli(['serve', '--json']).ended).code).toBe(75)
    daemon.program.signal('SIGCONT')
    expect((await daemon.ask('/health')).status).toBe(200)
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`ends at ${signal} with everything that it has started, and leaves no file to be found by`, async ({
      scene
    }) => {
      const daemon = await Daemon.start(scene)
      await daemon.opened(['--leaves'], { agent: 'Ada' })
      await daemon.opened([], { uid: `${scene.uid}-2` })
      expect(reactiveFiles(scene)).toHaveLength(2)
      daemon.program.signal(signal)
      expect((await daemon.program.ended).code).toBe(0)
      expect(processesWith(`AGENTMUX_AGENT_UID=${scene.uid}`).filter(lives)).toEqual([])
      expect(leaseFiles(scene)).toEqual([])
      expect(reactiveFiles(scene)).toEqual([])
      expect(daemon.file()).toEqual({ kind: 'missing' })
      const again = await Daemon.start(scene)
      expect((await again.opened()).epoch).toBe(2)
    })
  }

  test('asked twice to end does not wait for those who do not want to', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    const pane = await daemon.opened(['--stubborn'])
    daemon.program.signal('SIGTERM')
    await until('the pane is closing', async () => (await daemon.pane(pane.block_id)).state === 'closing')
    daemon.program.signal('SIGTERM')
    expect((await daemon.program.ended).code).toBe(0)
    expect(lives(pane.pid)).toBe(false)
    expect(leaseFiles(scene)).toEqual([])
  })

  test('goes on when its terminal is closed and nobody reads what it says', async ({ scene }) => {
    const daemon = await Daemon.start(scene)
    daemon.program.closeOutput()
    daemon.program.signal('SIGHUP')
    daemon.program.signal('SIGPIPE')
    const pane = await daemon.opened()
    // Each denial is a line of the log.
    for (let times = 0; times < 5; times++) expect((await daemon.open()).status).toBe(409)
    daemon.program.signal('SIGHUP')
    expect((await daemon.turn(pane.block_id, 'hello')).status).toBe(200)
    await daemon.says(pane.block_id, 'heard hello')
    daemon.program.signal('SIGTERM')
    expect((await daemon.program.ended).code).toBe(0)
  })

  test('gives the key it was given to nobody that it starts', async ({ scene }) => {
    const key = 'the-house-key-0123456789'
    const daemon = await Daemon.start(scene, 'stable', { environment: { AGENTMUX_AUTH_KEY: key } })
    expect(daemon.key).toBe(key)
    const pane = await daemon.opened()
    expect(environmentOf(pane.pid).join('\n')).not.toContain(key)
    const paneKey = environmentOf(pane.pid)
      .find((variable) => variable.startsWith('AGENTMUX_AUTH_KEY='))
      ?.slice('AGENTMUX_AUTH_KEY='.length)
    daemon.key = paneKey ?? ''
    expect((await daemon.ask('/agentmux/reactive/agents')).status).toBe(200)
    for (const path of ['/api/v1/agents', '/metrics', `/agentmux/agent/holding?uid=${scene.uid}`]) {
      expect((await daemon.ask(path)).status).toBe(401)
    }
    expect((await daemon.turn(pane.block_id, 'hello')).status).toBe(401)
    expect((await daemon.ask('/agentmux/agent/release', { uid: scene.uid })).status).toBe(401)
    expect((await daemon.ask('/api/v1/agent/takeover', { block_id: pane.block_id })).status).toBe(401)
    expect(lives(pane.pid)).toBe(true)
  })

  test('that cannot have its port says so, and is not in the way of the next', async ({ scene }) => {
    const server: Server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const refused = await scene.cli(['serve', '--port', String(port)]).ended
    server.close()
    expect(refused.code).toBe(69)
    expect(refused.stderr).toContain(String(port))
    expect(existsSync(join(scene.shared, 'agents', 'srv', 'stable.json'))).toBe(false)
    await Daemon.start(scene)
  })

  test('replaces a file that is not to be believed, whatever is in it', async ({ scene }) => {
    const path = join(scene.shared, 'agents', 'srv', 'stable.json')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ url: 'http://127.0.0.1:1', auth_key: 'x', pid: process.pid }))
    chmodSync(path, 0o644)
    const daemon = await Daemon.start(scene)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await daemon.ask('/health')).status).toBe(200)
  })

  test('has a command line that says what cannot be', async ({ scene }) => {
    for (const [flags, named] of [
      [
        ['--relay', 'http://relay.example'],
        'the relay URL http://relay.example would send the token unencrypted'
      ],
      [['--relay', 'relay.example'], 'the relay URL is no URL'],
      [['--port', '65536'], '--port']
    ] as const) {
      const { code, stderr } = await scene.cli(['serve', ...flags]).ended
      expect(code).toBe(64)
      expect(stderr).toContain(named)
    }
    for (const environment of [{ AGENTMUX_AUTH_KEY: 'with blank' }, { AGENTMUX_LAN_SECRET: 'short' }]) {
      expect((await scene.cli(['serve'], { environment }).ended).code).toBe(64)
    }
    expect(existsSync(scene.shared)).toBe(false)
  })

  test('never signals its own process group, however it ends its panes', async ({ scene }) => {
    // The daemon is one process of a group that a shell leads, with a witness beside it.
    const words = scene.words(['serve', '--json'])
    const script = 'sleep 1000 & echo "witness $!" >&2; "$@" & wait $!; kill $(jobs -p); exit 0'
    const shell = scene.start(['sh', '-c', script, 'sh', ...words], { detached: true })
    const [, witness] = await shell.says(/witness (\d+)/)
    const [, url] = await shell.prints(/"url":"([^"]+)"/)
    const path = join(scene.shared, 'agents', 'srv', 'stable.json')
    const { auth_key, pid } = JSON.parse(readFileSync(path, 'utf8'))
    const daemon = Object.assign(Object.create(Daemon.prototype), { scene, url, key: auth_key }) as Daemon
    const closed = await daemon.opened(['--stubborn', '--leaves'])
    await daemon.ask(`/api/v1/agents/${closed.block_id}/close`, { grace_ms: 0 })
    const killed = await daemon.opened(['--leaves'])
    process.kill(killed.pid, 'SIGKILL')
    await until('it has ended', async () => (await daemon.pane(killed.block_id)).ended_at_ms !== undefined)
    const lost = await daemon.opened(['--stubborn'])
    await scene.removeLease()
    expect((await daemon.turn(lost.block_id, 'who is there')).status).toBe(409)
    await until('it has ended', async () => (await daemon.pane(lost.block_id)).ended_at_ms !== undefined)
    expect([lives(Number(witness)), lives(pid), lives(shell.pid)]).toEqual([true, true, true])
    await daemon.opened(['--stubborn'])
    process.kill(pid, 'SIGTERM')
    process.kill(pid, 'SIGTERM')
    await until('the daemon has ended', () => !lives(pid))
    expect(lives(Number(witness)) || !shell.running).toBe(true)
    expect((await shell.ended).code).toBe(0)
  })
})

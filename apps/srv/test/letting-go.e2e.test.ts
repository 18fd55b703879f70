/** A `run` can be reached by others on this computer, lets its agent go when it is asked to, and only then. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAdmissionRefusal, parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { type Asked, ask, askToLetGo, entryFile, registered } from './harness/instance.js'
import { lives } from './harness/processes.js'
import { type RunOptions, type Scene, test } from './harness/scene.js'
import { ShellOnTerminal } from './harness/terminal.js'
import { until } from './harness/until.js'

/** Whether we may have a network of our own, where every port is taken. */
const NETWORK = spawnSync('unshare', ['-rn', 'true']).status === 0 ? ['unshare', '-rn'] : undefined

/** A run whose agent has begun, and that others can find. */
async function reachable(scene: Scene, command = scene.agent(), options: RunOptions = {}) {
  const run = scene.run(command, options)
  const agent = await scene.audited('agent', 'begin')
  const entry = await registered(scene)
  return { run, agent, entry }
}

function holdOf(scene: Scene) {
  const path = `${scene.leases}/${scene.uid}.hold`
  return scene.exists(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

describe('run, while its command runs', () => {
  test('is registered under the agent’s name, readable by us alone, and not any more once it has ended', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    const run = scene.run(scene.agent('agent', '--until', stop), { flags: ['--agent', 'Agent Three'] })
    const entry = await registered(scene, 'agent_three')
    expect(entry).toMatchObject({ agent_id: 'Agent Three', pid: run.pid, channel: 'stable' })
    expect(entry.local_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(entry.auth_key).toMatch(/^[0-9a-f]{64}$/)
    expect(statSync(entryFile(scene, 'agent_three')).mode & 0o777).toBe(0o600)
    scene.trigger(stop)
    expect((await run.ended).code).toBe(0)
    expect(scene.exists(entryFile(scene, 'agent_three'))).toBe(false)
  })

  test('says which agent it runs and that it holds it', async ({ scene }) => {
    const { run, entry } = await reachable(scene)
    const lease = scene.lease()
    expect((await ask(entry, '/health', { key: null })).body).toMatchObject({ status: 'ok' })
    expect((await ask(entry, '/agentmux/reactive/agents')).body).toEqual([
      {
        agent_id: scene.uid,
        block_id: lease.block_id,
        uid: scene.uid,
        registered_at: lease.acquired_at_ms,
        last_seen: expect.any(Number),
        registration_nonce: entry.registration_nonce
      }
    ])
    expect((await ask(entry, `/agentmux/agent/holding?uid=${scene.uid}`)).body).toMatchObject({
      held: true,
      channel: 'stable',
      acquired_at_ms: lease.acquired_at_ms,
      claim: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
    expect((await ask(entry, '/agentmux/agent/holding?uid=another')).body).toMatchObject({
      held: false,
      channel: ''
    })
    run.signal('SIGTERM')
    await run.ended
  })

  test('its key is nowhere in the command’s environment nor in what is printed', async ({ scene }) => {
    const { run, agent, entry } = await reachable(scene)
    expect(readFileSync(`/proc/${agent.pid}/environ`, 'latin1')).not.toContain(entry.auth_key)
    run.signal('SIGTERM')
    const { stdout, stderr } = await run.ended
    expect(stdout + stderr).not.toContain(entry.auth_key)
  })

  test('somebody who has only half asked does not keep it from ending', async ({ scene }) => {
    const stop = scene.newPath('stop')
    const { run, entry } = await reachable(scene, scene.agent('agent', '--until', stop))
    const { port } = new URL(entry.local_url)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    const closed = once(socket.resume(), 'close')
    const head = [
      'POST /agentmux/agent/release HTTP/1.1',
      `host: 127.0.0.1:${port}`,
      `x-authkey: ${entry.auth_key}`
    ]
    socket.write(
      [...head, 'content-type: application/json', 'content-length: 99', '', '{"uid":'].join('\r\n')
    )
    await ask(entry, '/agentmux/reactive/agents')
    scene.trigger(stop)
    expect((await run.ended).code).toBe(0)
    await closed
  })

  test('without a port of its own: a warning, and the command runs and ends as ever', async ({ scene }) => {
    if (NETWORK === undefined) return expect(NETWORK).toBeUndefined()
    const stop = scene.newPath('stop')
    const taken = scene.newPath('taken')
    const taking = `require('net').createServer().listen(40000, '127.0.0.1', () => require('fs').writeFileSync('${taken}', ''))`
    // The one port that the system gives out is taken.
    const occupied = [
      'echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range',
      `${process.execPath} -e "${taking}" &`,
      `while [ ! -e ${taken} ]; do sleep 0.05; done; exec "$@"`
    ].join('\n')
    const run = scene.run(scene.agent('agent', '--until', stop, '--exit', '7'), {
      via: [...NETWORK, 'sh', '-c', occupied, 'sh']
    })
    await run.says(/no take-over can reach it: .*EADDRINUSE/)
    await scene.audited('agent', 'begin')
    scene.trigger(stop)
    expect((await run.ended).code).toBe(7)
  })

  test('in a registry that cannot be written: a warning, and the command runs and ends as ever', async ({
    scene
  }) => {
    const stop = scene.newPath('stop')
    await scene.run(['true']).ended
    const folder = `${scene.shared}/agents/reactive`
    spawnSync('rm', ['-rf', folder])
    spawnSync('touch', [folder])
    const run = scene.run(scene.agent('agent', '--until', stop, '--exit', '7'))
    await run.says(/no take-over can reach it: /)
    scene.trigger(stop)
    expect((await run.ended).code).toBe(7)
  })
})

describe('run, asked to let its agent go', () => {
  test('ends the command in order, keeps the agent for who asked, answers when it is free, and exits 76', async ({
    scene
  }) => {
    const { run, agent, entry } = await reachable(
      scene,
      scene.agent('agent', '--session-child', 'daemon', '--child', 'native')
    )
    const family = [agent, await scene.audited('daemon', 'begin'), await scene.audited('native', 'begin')]
    const answer = await askToLetGo(entry, scene.uid)
    expect(answer).toMatchObject({ status: 200, body: { ok: true, released: 1 } })
    expect(scene.exists(scene.leaseFile())).toBe(false)
    expect(family.map(({ pid }) => lives(pid))).toEqual([false, false, false])
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta', to_version: '9.9.9' })
    const { code, stderr } = await run.ended
    expect(code).toBe(76)
    expect(stderr).toContain('was taken over by another AgentMux instance')
    expect(stderr).toContain('channel beta')
    expect(isAdmissionRefusal(stderr)).toBe(true)
    const heard = scene.auditLines().filter(({ name, event }) => name === 'agent' && event === 'signal')
    expect(heard.map(({ signal }) => signal)).toEqual(['SIGTERM'])
    expect(scene.auditLines().some(({ name, event }) => name === 'agent' && event === 'end')).toBe(true)
    expect(scene.exists(entryFile(scene))).toBe(false)
  })

  test('says who took the agent over as data with --json', async ({ scene }) => {
    const { run, entry } = await reachable(scene, scene.agent(), { flags: ['--json'] })
    await askToLetGo(entry, scene.uid.toUpperCase())
    const { code, stderr } = await run.ended
    expect(code).toBe(76)
    expect(parseRefusal(JSON.parse(stderr).refusal)).toMatchObject({
      kind: 'taken-over',
      holder: { channel: 'beta', version: '9.9.9' }
    })
  })

  test('kills a command that does not end, after its 10 s', async ({ scene }) => {
    const { run, agent, entry } = await reachable(scene, scene.agent('agent', '--ignore', 'SIGTERM'))
    const startedMs = performance.now()
    const answering = askToLetGo(entry, scene.uid)
    await scene.audited('agent', 'signal')
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta' })
    expect(scene.exists(scene.leaseFile())).toBe(true)
    expect((await answering).body).toEqual({ ok: true, released: 1 })
    expect(performance.now() - startedMs).toBeGreaterThan(9_500)
    expect(lives(agent.pid)).toBe(false)
    expect((await run.ended).code).toBe(76)
  })

  test('a signal to the run hurries it', async ({ scene }) => {
    const { run, entry } = await reachable(scene, scene.agent('agent', '--ignore', 'SIGTERM'))
    const startedMs = performance.now()
    const answering = askToLetGo(entry, scene.uid)
    await scene.audited('agent', 'signal')
    run.signal('SIGTERM')
    expect((await answering).body).toEqual({ ok: true, released: 1 })
    expect(performance.now() - startedMs).toBeLessThan(9_500)
    expect((await run.ended).code).toBe(76)
  })

  test('asked again by the same: one answer for both; by another: refused, saying to whom it goes', async ({
    scene
  }) => {
    const { run, entry } = await reachable(scene, scene.agent('agent', '--ignore', 'SIGTERM'))
    const first = askToLetGo(entry, scene.uid)
    await scene.audited('agent', 'signal')
    const again = askToLetGo(entry, scene.uid)
    const other = await askToLetGo(entry, scene.uid, { channel: 'nightly' })
    expect(other).toMatchObject({ status: 409, body: { error: expect.stringContaining('channel beta') } })
    run.signal('SIGTERM')
    expect([(await first).body, (await again).body]).toEqual([
      { ok: true, released: 1 },
      { ok: true, released: 1 }
    ])
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta' })
    await run.ended
  })

  test('by somebody who had gone before it came to read it: nothing is begun', async ({ scene }) => {
    const { run, agent, entry } = await reachable(scene)
    await scene.settled()
    await run.stop()
    const cancel = new AbortController()
    const asking = askToLetGo(entry, scene.uid, { signal: cancel.signal })
    asking.catch(() => {})
    await sleep(100)
    cancel.abort()
    await expect(asking).rejects.toThrow()
    run.signal('SIGCONT')
    // Whoever asks after it is answered after it.
    expect((await askToLetGo(entry, 'another-agent')).body).toEqual({ ok: true, released: 0 })
    expect(holdOf(scene)).toBeUndefined()
    await scene.beatsAgain(agent.pid)
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(143)
  })

  test('by somebody who then went away: it is free, and kept for nobody', async ({ scene }) => {
    const { run, entry } = await reachable(scene, scene.agent('agent', '--ignore', 'SIGTERM'))
    const cancel = new AbortController()
    const asking = askToLetGo(entry, scene.uid, { signal: cancel.signal })
    await scene.audited('agent', 'signal')
    cancel.abort()
    await expect(asking).rejects.toThrow()
    run.signal('SIGTERM')
    await run.ended
    expect(holdOf(scene)).toBeUndefined()
    expect((await scene.run(['true'], { flags: ['-n'] }).ended).code).toBe(0)
  })

  test('while it ends what the command left: the agent is kept for who asked, and the exit code is the command’s', async ({
    scene
  }) => {
    const run = scene.run(scene.leaving(4, scene.agent('left', '--ignore', 'SIGTERM')), {
      flags: ['--grace', '3600']
    })
    await scene.audited('left', 'begin')
    await run.says(/ending what the command left running/)
    const entry = await registered(scene)
    const answering = askToLetGo(entry, scene.uid)
    await until('the hold is up', () => holdOf(scene))
    run.signal('SIGTERM')
    expect((await answering).body).toEqual({ ok: true, released: 1 })
    expect((await run.ended).code).toBe(4)
    expect(holdOf(scene)).toMatchObject({ to_channel: 'beta' })
  })

  test('a lease that is lost meanwhile is not handed over', async ({ scene }) => {
    const { run, entry } = await reachable(scene, scene.agent('agent', '--ignore', 'SIGTERM'))
    await scene.settled()
    const answering = askToLetGo(entry, scene.uid)
    await scene.audited('agent', 'signal')
    await scene.removeLease()
    run.signal('SIGTERM')
    expect((await answering).body).toEqual({ ok: true, released: 0 })
    expect(holdOf(scene)).toBeUndefined()
    expect((await run.ended).code).toBe(76)
  })

  test('on a terminal: the command ends, the terminal is usable again, and the exit status is 76', async ({
    scene
  }) => {
    const shell = new ShellOnTerminal(scene)
    shell.run(['sh', '-c', 'stty raw -echo; exec "$@"', 'sh', ...scene.agent()])
    await scene.audited('agent', 'begin')
    const entry = await registered(scene)
    expect((await askToLetGo(entry, scene.uid)).body).toEqual({ ok: true, released: 1 })
    await shell.program.prints(/was taken over by another AgentMux instance/)
    expect(await shell.lastExit()).toBe(76)
    shell.enter('stty -a')
    await shell.program.prints(/[^-]icanon/)
  })
})

/** A request, and the status and error of its answer. */
const TURNED_AWAY: readonly (readonly [string, string, Asked, number, string])[] = [
  ['no key', '/agentmux/agent/release', { body: { uid: 'UID' }, key: null }, 401, 'unauthorized'],
  [
    'a wrong key',
    '/agentmux/agent/release',
    { body: { uid: 'UID' }, key: 'x'.repeat(64) },
    401,
    'unauthorized'
  ],
  ['no key, another route', '/agentmux/reactive/agents', { key: null }, 401, 'unauthorized'],
  [
    'a name that was pointed here',
    '/health',
    { headers: { host: 'evil.example:80' } },
    403,
    'forbidden host'
  ],
  [
    'a web page',
    '/agentmux/agent/release',
    { body: { uid: 'UID' }, headers: { origin: 'https://evil.example' } },
    403,
    'forbidden origin'
  ],
  [
    'a web page, as browsers tell',
    '/agentmux/agent/release',
    { body: { uid: 'UID' }, headers: { 'sec-fetch-site': 'cross-site' } },
    403,
    'forbidden origin'
  ],
  ['an unknown route', '/agentmux/reactive/register', { body: {} }, 404, 'not found'],
  ['a path that is none', '//', {}, 404, 'not found'],
  ['a wrong method', '/agentmux/agent/release', {}, 405, 'method not allowed'],
  [
    'a form',
    '/agentmux/agent/release',
    { body: 'uid=UID', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'application/json required'
  ],
  ['a huge body', '/agentmux/agent/release', { body: { uid: 'x'.repeat(100_000) } }, 413, 'body too large'],
  ['half a body', '/agentmux/agent/release', { body: '{"uid":' }, 400, 'the body is not JSON'],
  [
    'null for a body',
    '/agentmux/agent/release',
    { body: 'null' },
    400,
    'the body must be an object, not null'
  ],
  ['no UID', '/agentmux/agent/release', { body: {} }, 400, 'uid required'],
  ['a UID that is no text', '/agentmux/agent/release', { body: { uid: 7 } }, 400, 'uid required'],
  [
    'a channel that is no text',
    '/agentmux/agent/release',
    { body: { uid: 'UID', requested_by_channel: {} } },
    400,
    'requested_by_channel must be a short text'
  ],
  ['no UID to look for', '/agentmux/agent/holding', {}, 400, 'uid required']
]

describe('run, asked by whoever must not or cannot be meant', () => {
  test('answers each with its status, and the command goes on', async ({ scene }) => {
    const { run, agent, entry } = await reachable(scene)
    for (const [what, path, asked, status, error] of TURNED_AWAY) {
      const body = asked.body && JSON.parse(JSON.stringify(asked.body).replaceAll('UID', scene.uid))
      const answer = await ask(entry, path, { ...asked, ...(body === undefined ? {} : { body }) })
      expect({ what, status: answer.status, body: answer.body }).toEqual({ what, status, body: { error } })
      expect(answer.text).not.toContain(entry.auth_key)
    }
    expect(await askToLetGo(entry, 'another-agent')).toMatchObject({
      status: 200,
      body: { ok: true, released: 0 }
    })
    await scene.beatsAgain(agent.pid)
    expect(holdOf(scene)).toBeUndefined()
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(143)
  })
})

/** The built program: its life, its restarts, its flags. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from './harness/client.js'
import { newToken, RelayProcess, relay } from './harness/relay-process.js'
import { until } from './harness/until.js'

let folder: string
let data: string
let store: string[]
const running: RelayProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-e2e-'))
  data = join(folder, 'data')
  store = ['--data', data]
})
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.signal('SIGCONT')
    await one.end('SIGKILL')
  }
  rmSync(folder, { recursive: true, force: true })
})

async function start(...args: string[]): Promise<RelayProcess> {
  const started = await RelayProcess.start([...store, '--port', '0', ...args])
  running.push(started)
  return started
}

describe('the life of a relay', () => {
  test('killed and started again, it knows its leases, tokens and messages; the holder renews under the same epoch', async () => {
    const token = newToken(store)
    const first = await start()
    const anna = new Client(first.url, { token })
    expect(await anna.claim('agent3')).toMatchObject({ status: 200, json: { epoch: 1 } })
    const { injection_id } = (await anna.inject('agent3', 'hello')).json
    await first.end('SIGKILL')
    const second = await start('--port', first.port)
    const ben = new Client(second.url, { token, install: 'install-b' })
    expect(await ben.claim('agent3')).toMatchObject({ status: 409, json: { held_by: { host: 'mill' } } })
    expect(await anna.renew('agent3')).toMatchObject({ status: 200, json: { epoch: 1 } })
    expect((await anna.pending('agent3')).json.injections).toMatchObject([{ id: injection_id }])
    expect(await second.end()).toBe(0)
    const log = first.log + second.log
    expect(log).toContain('"because":"claimed"')
    expect(log).not.toContain(token)
    expect(log).not.toContain('hello')
  })

  test('down for longer than a TTL, it lets only the last holder claim, and after one more TTL anybody', async () => {
    const token = newToken(store)
    const first = await start('--ttl', '2s')
    const anna = new Client(first.url, { token })
    await anna.claim('agent3')
    await first.end()
    await sleep(2_500)
    const second = await start('--ttl', '2s', '--port', first.port)
    const ben = new Client(second.url, { token, install: 'install-b' })
    expect(await ben.claim('agent3')).toMatchObject({ status: 409 })
    await until('the agent is free', async () => (await ben.look('agent3')).json.state === 'free')
    expect(await ben.claim('agent3')).toMatchObject({ status: 200, json: { epoch: 2 } })
  })

  test('stopped for longer than a TTL, it takes nothing from anybody when it goes on', async () => {
    const token = newToken(store)
    const one = await start('--ttl', '2s')
    const anna = new Client(one.url, { token })
    const ben = new Client(one.url, { token, install: 'install-b' })
    await anna.claim('agent3')
    one.signal('SIGSTOP')
    await sleep(2_500)
    const claim = ben.claim('agent3')
    one.signal('SIGCONT')
    expect(await claim).toMatchObject({ status: 409 })
    expect(await anna.renew('agent3')).toMatchObject({ status: 200, json: { epoch: 1 } })
  })

  test('one relay serves from a data folder; the second says so and starts nothing', async () => {
    await start()
    const { code, stderr } = relay(['serve', ...store, '--port', '0'])
    expect(code).toBe(69)
    expect(stderr).toContain('another relay serves from')
  })

  test('a port that is taken, a folder that others can enter: 69, and what to do', async () => {
    const one = await start()
    const taken = relay(['serve', '--data', join(folder, 'other'), '--port', one.port])
    expect(taken).toMatchObject({ code: 69, stderr: expect.stringContaining('EADDRINUSE') })
    chmodSync(join(folder, 'other'), 0o755)
    const open = relay(['serve', '--data', join(folder, 'other'), '--port', '0', '--json'])
    expect(open.code).toBe(69)
    expect(JSON.parse(open.stdout).error.message).toContain('chmod 700')
  })

  test('its files are for their owner alone', async () => {
    await start()
    for (const name of ['', 'relay.db', 'relay.db-wal', 'serving.lock']) {
      expect(statSync(join(data, name)).mode & 0o077, name).toBe(0)
    }
  })
})

describe('TLS', () => {
  /** The certificate that is shown to whoever connects, as PEM-free serial number. */
  function shownSerial(url: string, ca: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(`${url}/health`, { ca, agent: false }, (response) => {
        const { serialNumber } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
        response.resume().on('end', () => resolve(`${response.statusCode} ${serialNumber}`))
      })
      asked.on('error', reject).end()
    })
  }

  function certificate(name: string): { cert: string; key: string } {
    const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
    execFileSync(
      'openssl',
      [
        ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ['-keyout', key, '-out', cert, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
      ].flat(),
      { stdio: 'ignore' }
    )
    return { cert, key }
  }

  test('plain HTTP that others can reach needs to be asked for by name', async () => {
    const refused = relay(['serve', ...store, '--host', '0.0.0.0', '--port', '0'])
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining('--tls-cert') })
    const allowed = await start('--host', '0.0.0.0', '--insecure-http')
    expect((await fetch(`http://127.0.0.1:${allowed.port}/health`)).status).toBe(200)
  })

  test('HTTPS from files; SIGHUP shows the new certificate, and a broken one leaves the old', async () => {
    const [first, second] = [certificate('first'), certificate('second')]
    const one = await start('--tls-cert', first.cert, '--tls-key', first.key)
    expect(one.url).toMatch(/^https:/)
    const before = await shownSerial(one.url, readFileSync(first.cert, 'utf8'))
    expect(before).toMatch(/^200 /)
    const renewed = readFileSync(second.cert, 'utf8')
    copyFileSync(second.cert, first.cert)
    one.signal('SIGHUP')
    await until('the log says that it could not be read', async () =>
      one.log.includes('could not be read anew')
    )
    copyFileSync(second.key, first.key)
    one.signal('SIGHUP')
    const after = await until('the new certificate is shown', async () => {
      const shown = await shownSerial(one.url, renewed)
      return shown === before ? undefined : shown
    })
    expect(after).toMatch(/^200 /)
    expect(await one.end()).toBe(0)
  })

  test('one of the two files alone is a usage error; files that are none are 69', () => {
    expect(relay(['serve', ...store, '--tls-cert', 'x'])).toMatchObject({ code: 64 })
    const { code, stderr } = relay([
      'serve',
      ...store,
      '--tls-cert',
      '/no/such.crt',
      '--tls-key',
      '/no/such.key'
    ])
    expect(code).toBe(69)
    expect(stderr).toContain('/no/such.crt')
  })
})

describe('commands', () => {
  test('a token is shown once, listed without its secret, and opens nothing once revoked', async () => {
    const added = relay([
      'token',
      'add',
      ...store,
      '--account',
      'acme',
      '--agent',
      'Agent3',
      '--ttl',
      '30d',
      '--json'
    ])
    const { token, ...shown } = JSON.parse(added.stdout)
    expect(shown).toMatchObject({ account: 'acme', agent: 'agent3' })
    expect(shown.expires_at - shown.created_at).toBe(30 * 86_400_000)
    const list = relay(['token', 'list', ...store, '--json'])
    expect(JSON.parse(list.stdout)).toEqual({ tokens: [shown] })
    expect(list.stdout).not.toContain(token)
    expect(readFileSync(join(data, 'relay.db')).includes(token)).toBe(false)
    const one = await start()
    const client = new Client(one.url, { token })
    expect(await client.claim('agent3')).toMatchObject({ status: 200 })
    expect(relay(['token', 'revoke', ...store, shown.id]).code).toBe(0)
    expect(await client.renew('agent3')).toMatchObject({ status: 401 })
    expect(relay(['token', 'revoke', ...store, shown.id]).code).toBe(75)
  })

  test('leases shows who holds what, beside a relay that runs', async () => {
    const token = newToken(store)
    const one = await start()
    await new Client(one.url, { token }).claim('agent3')
    const { stdout } = relay(['leases', ...store, '--json'])
    expect(JSON.parse(stdout).leases).toMatchObject([
      { account: 'acme', agent: 'agent3', state: 'held', host: 'mill', channel: 'stable', epoch: 1 }
    ])
    expect(relay(['leases', ...store]).stdout).toContain('mill, channel stable, v1.0.0')
    expect(JSON.parse(relay(['leases', ...store, '--account', 'b', '--json']).stdout)).toEqual({ leases: [] })
  })

  test('doctor looks before and after there is something, changes nothing, and says what is wrong', async () => {
    const before = relay(['doctor', ...store, '--port', '0'])
    expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining('not there yet') })
    expect(() => statSync(data)).toThrow()
    newToken(store)
    const one = await start()
    const during = JSON.parse(relay(['doctor', ...store, '--port', one.port, '--json']).stdout)
    expect(during.checks).toContainEqual(
      expect.objectContaining({ name: 'relay', seen: expect.stringContaining('a relay serves') })
    )
    expect(during.checks).toContainEqual(expect.objectContaining({ name: 'tokens', level: 'ok' }))
    await one.end()
    chmodSync(data, 0o755)
    expect(relay(['doctor', ...store, '--port', '0'])).toMatchObject({
      code: 69,
      stdout: expect.stringContaining('chmod 700')
    })
  })

  test.each([
    [[]],
    [['serve']],
    [['token']],
    [['token', 'add']],
    [['token', 'list']],
    [['token', 'revoke']],
    [['leases']],
    [['doctor']]
  ])('%j --help has an example and the exit codes', (words) => {
    const { code, stdout } = relay([...words, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('Example:')
    if (words.length > 0 && words.join(' ') !== 'token') expect(stdout).toContain('Exit codes:')
  })

  test.each([
    [['serve', '--port', 'x']],
    [['serve', '--ttl', '5']],
    [['serve', '--data', 'a', '--etcd', 'http://127.0.0.1:1']],
    [['serve', '--etcd', 'nonsense']],
    [['token', 'add']],
    [['token', 'add', '--account', 'A B']],
    [['token', 'add', '--account', '']],
    [['token', 'add', '--account', 'a', '--ttl', 'soon']],
    [['nonsense']]
  ])('%j is a usage error: 64, with an example', (words) => {
    const { code, stderr } = relay(words)
    expect(code).toBe(64)
    expect(stderr).toMatch(/error: .+/)
  })

  test('the data folder of the environment is used, and an empty variable is none', () => {
    const env = { AGENTMUX_RELAY_DATA: join(folder, 'from-environment') }
    expect(relay(['token', 'add', '--account', 'acme'], env).code).toBe(0)
    expect(statSync(join(folder, 'from-environment', 'relay.db')).isFile()).toBe(true)
    const home = { AGENTMUX_RELAY_DATA: '', HOME: folder }
    expect(relay(['token', 'add', '--account', 'acme'], home).code).toBe(0)
    expect(statSync(join(folder, '.agentmux/relay/relay.db')).isFile()).toBe(true)
  })
})

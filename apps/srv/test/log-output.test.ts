/** The log on real pipes, with readers that read, stop and go away. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { createLog } from '../src/log/log.js'
import { LogOutput } from '../src/log/log-output.js'
import { until } from './harness/until.js'

const SECRET = 'a"secret\\with everything in it'

interface LogFixtures {
  readonly folder: string
}

const test = base.extend<LogFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: what vitest asks for
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'agentmux-log-'))
    await use(folder)
    rmSync(folder, { recursive: true, force: true })
  }
})

/** A pipe with a name, and a process that has it open to read and does what the command does. */
function pipeTo(folder: string, command: string): { descriptor: number; reader: ChildProcess } {
  const path = join(folder, 'pipe')
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error('no pipe')
  const reader = spawn('sh', ['-c', `exec <"$1"; ${command}`, 'sh', path], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  // Opening waits for the other end.
  return { descriptor: openSync(path, constants.O_WRONLY), reader }
}

async function readBy(reader: ChildProcess): Promise<string> {
  let text = ''
  for await (const part of reader.stdout ?? []) text += part
  return text
}

describe('the log', () => {
  test('is one JSON object per line', async ({ folder }) => {
    const path = join(folder, 'log')
    const descriptor = openSync(path, 'a')
    const { log, flush } = createLog({ descriptor })
    log.info({ event: 'granted', agent: { uid: 'x' } }, 'lease granted')
    log.debug('not shown')
    await flush()
    closeSync(descriptor)
    const lines = readFileSync(path, 'utf8').split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', pid: process.pid, event: 'granted', agent: { uid: 'x' }, msg: 'lease granted' }
    ])
  })

  test('shows no secret, by name or by value', async ({ folder }) => {
    const path = join(folder, 'log')
    const descriptor = openSync(path, 'a')
    const { log, flush } = createLog({ descriptor, secrets: [SECRET] })
    log.error({ err: new Error(`with ${SECRET}`), url: `/x?${SECRET}` }, SECRET)
    for (const field of ['key', 'authKey', 'auth_key', 'token', 'environment']) {
      log.info({ [field]: 'unknown-secret', inside: { [field]: 'unknown-secret' } })
    }
    log.info({ req: { method: 'GET', url: '/path?unknown-secret', headers: { x: 'unknown-secret' } } })
    await flush()
    closeSync(descriptor)
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(JSON.stringify(SECRET).slice(1, -1))
    expect(text).not.toContain('unknown-secret')
    expect(text).toContain('"path":"/path"')
  })

  test('does not wait for a reader that has stopped, and says later what it dropped', async ({ folder }) => {
    const go = join(folder, 'go')
    const { descriptor, reader } = pipeTo(folder, `while [ ! -e '${go}' ]; do sleep 0.05; done; cat`)
    const text = readBy(reader)
    const output = new LogOutput({ descriptor })
    const line = `${'x'.repeat(1_023)}\n`
    // Far more than fits into the pipe and into what may wait.
    for (let count = 0; count < 4_000; count++) output.write(line)
    await output.flush(50)
    writeFileSync(go, '')
    await output.flush(60_000)
    closeSync(descriptor)
    const lines = (await text).split('\n').filter((one) => one !== '')
    const dropped = lines.filter((one) => one.startsWith('{')).map((one) => JSON.parse(one))
    expect(dropped).toMatchObject([{ level: 'warn', msg: 'log lines were dropped' }])
    expect(lines.length - 1 + dropped[0].lines).toBe(4_000)
    expect(lines.length).toBeLessThan(1_200)
  })

  test('goes on without a reader that has gone away', async ({ folder }) => {
    const { descriptor, reader } = pipeTo(folder, 'exit')
    await until('the reader is gone', () => reader.exitCode !== null)
    const output = new LogOutput({ descriptor })
    for (let count = 0; count < 10; count++) output.write('nobody reads this\n')
    await output.flush(60_000)
    closeSync(descriptor)
  })
})

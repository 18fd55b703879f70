/** Where the LAN secret comes from: taken out of the environment, and never said, whatever is wrong with it (R16). */
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { signAnswer } from '@agentmux/lan-tier'
import { expect } from 'vitest'
import { takeLanSecret } from '../src/lan/lan-secret-source.js'
import { test } from './harness/scene.js'

const SECRET = 'a secret that is long enough'
const ANSWER = { nonce: '0'.repeat(32), path: '/', body: '' }

test('the variable is used and taken away', () => {
  const environment = { AGENTMUX_LAN_SECRET: SECRET, OTHER: 'x' }
  expect(takeLanSecret(environment)).toMatchObject({ kind: 'secret', text: SECRET })
  expect(environment).toEqual({ OTHER: 'x' })
  expect(takeLanSecret(environment)).toEqual({ kind: 'none' })
  expect(takeLanSecret({ AGENTMUX_LAN_SECRET: '', AGENTMUX_LAN_SECRET_FILE: '' })).toEqual({ kind: 'none' })
})

test('a file gives the same secret as the variable, without its line break', ({ scene }) => {
  const path = scene.newPath('secret')
  writeFileSync(path, `${SECRET}\n`, { mode: 0o600 })
  const environment = { AGENTMUX_LAN_SECRET_FILE: path }
  const [fromFile, fromVariable] = [
    takeLanSecret(environment),
    takeLanSecret({ AGENTMUX_LAN_SECRET: SECRET })
  ]
  if (fromFile.kind !== 'secret' || fromVariable.kind !== 'secret') throw new Error(JSON.stringify(fromFile))
  expect(signAnswer(fromFile.secret, ANSWER)).toBe(signAnswer(fromVariable.secret, ANSWER))
  expect(environment).toEqual({})
})

test('what is wrong is said, and the secret is not', ({ scene }) => {
  const path = scene.newPath('secret')
  const fifo = scene.newPath('fifo')
  execFileSync('mkfifo', [fifo])
  chmodSync(fifo, 0o600)
  writeFileSync(path, SECRET, { mode: 0o644 })
  chmodSync(path, 0o644)
  const large = scene.newPath('large')
  writeFileSync(large, SECRET.repeat(500), { mode: 0o600 })
  const faults = [
    [{ AGENTMUX_LAN_SECRET: 'too short' }, /at least 16 bytes/],
    [{ AGENTMUX_LAN_SECRET: SECRET, AGENTMUX_LAN_SECRET_FILE: path }, /are both set/],
    [{ AGENTMUX_LAN_SECRET_FILE: path }, /can be read by others: run chmod 600/],
    [{ AGENTMUX_LAN_SECRET_FILE: scene.newPath('none') }, /ENOENT/],
    [{ AGENTMUX_LAN_SECRET_FILE: scene.folder }, /is no file/],
    [{ AGENTMUX_LAN_SECRET_FILE: fifo }, /is no file/],
    [{ AGENTMUX_LAN_SECRET_FILE: large }, /longer than 4096 bytes/]
  ] as const
  for (const [environment, expected] of faults) {
    const taken = takeLanSecret({ ...environment })
    if (taken.kind !== 'fault') throw new Error(`${JSON.stringify(environment)} is ${taken.kind}`)
    expect(taken.message).toMatch(expected)
    expect(taken.message).not.toContain('too short ')
    expect(taken.message).not.toContain(SECRET)
  }
})

test('a daemon with a secret that cannot be used does not start', async ({ scene }) => {
  const environment = { AGENTMUX_LAN_SECRET: 'too tiny' }
  const { code, stderr, stdout } = await scene.cli(['serve'], { environment }).ended
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  expect(stderr).toMatch(/at least 16 bytes/)
  expect(stderr).not.toContain('too tiny')
})

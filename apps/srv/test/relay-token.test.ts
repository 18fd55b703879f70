/** Where the token comes from, and what is not used as one. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { takeRelayToken } from '../src/relay/relay-token.js'
import { bodyOf } from './harness/http-reading.js'
import { relayTest as test } from './harness/relay-house.js'
import { until } from './harness/until.js'

describe('the token', () => {
  test('is taken out of the environment', () => {
    const environment = { AGENTMUX_RELAY_TOKEN: 'abc' }
    const token = takeRelayToken(environment)
    expect(environment).toEqual({})
    expect(token.token()).toBe('abc')
    expect(token.secrets).toEqual(['abc'])
    expect(token.problem()).toBeUndefined()
  })

  test('of a file is read every time', ({ scene }) => {
    const path = scene.newPath('token')
    writeFileSync(path, 'first\n', { mode: 0o600 })
    const token = takeRelayToken({ AGENTMUX_RELAY_TOKEN_FILE: path })
    expect(token.token()).toBe('first')
    writeFileSync(path, 'second')
    expect(token.token()).toBe('second')
    rmSync(path)
    expect(token.token()).toBeUndefined()
    expect(token.problem()).toBe('the file that $AGENTMUX_RELAY_TOKEN_FILE names cannot be read: ENOENT')
  })

  test('of a file that is open to others, is none, empty, too long or no text is not used', ({ scene }) => {
    const problemOf = (prepare: (path: string) => void) => {
      const path = scene.newPath('token')
      prepare(path)
      const token = takeRelayToken({ AGENTMUX_RELAY_TOKEN_FILE: path })
      expect(token.token()).toBeUndefined()
      return token.problem()
    }
    const holding = (text: string) => (path: string) => writeFileSync(path, text, { mode: 0o600 })
    expect(
      problemOf((path) => {
        holding('abc')(path)
        chmodSync(path, 0o640)
      })
    ).toContain('is open to others: run chmod 600 on it')
    expect(problemOf((path) => mkdirSync(path))).toContain('is no file')
    expect(problemOf(holding(' \n'))).toContain('is empty')
    expect(problemOf(holding('x'.repeat(20_000)))).toContain('longer than')
    expect(problemOf(holding('two words'))).toContain('visible ASCII')
  })

  test('is not guessed where two are given, and none is said to be missing', () => {
    const both = takeRelayToken({ AGENTMUX_RELAY_TOKEN: 'abc', AGENTMUX_RELAY_TOKEN_FILE: '/x' })
    expect(both.token()).toBeUndefined()
    expect(both.problem()).toContain('unset one')
    expect(takeRelayToken({}).problem()).toContain('set $AGENTMUX_RELAY_TOKEN')
  })

  test('of this moment goes with each request; without one the relay is not asked, and doctor can say why', async ({
    scene,
    relay,
    openHouse
  }) => {
    const path = scene.newPath('token')
    const token = takeRelayToken({ AGENTMUX_RELAY_TOKEN_FILE: path })
    const house = await openHouse({ relay: relay.setting({ token }) })
    await house.openPane()
    expect(relay.asked).toEqual([])
    expect(bodyOf(await house.client.get('/api/v1/relay')).token_problem).toContain('ENOENT')
    for (const text of ['one', 'two']) {
      writeFileSync(path, text, { mode: 0o600 })
      await house.client.get(`/api/v1/relay/holder?agent=agent-${text}`)
      await until(`${text} is used`, () => relay.asked.at(-1)?.headers.authorization === `Bearer ${text}`)
    }
  })
})

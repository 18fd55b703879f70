/** A computer without a network: a process in a network namespace of its own, in which nothing leads anywhere. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { silenceOf } from '../src/holdings/silence-of.js'

const script = `
import { LanHoldings, verdictOf } from '@agentmux/lan-tier'
import { createSystemClock } from '@agentmux/lease-model'
const peer = (number) => ({
  instanceId: 'i' + number, hostname: 'barn', version: '', channel: '', address: '10.1.2.' + number,
  addresses: [], port: 2000, authKey: 'key', agents: [], firstSeenMs: 1, lastSeenMs: 1
})
const holdings = new LanHoldings({
  peers: () => [peer(1), peer(2)], hostname: 'mill', ownLease: () => undefined, clock: createSystemClock()
})
const { kind, because } = verdictOf(await holdings.lanHolders('7c0e'))
await holdings.close()
console.log(kind, because)
`

describe('when the network leads nowhere', () => {
  it('it is unknown who holds an agent, not free, with what stands in the way', async () => {
    const node = [process.execPath, '--input-type=module', '-e', script]
    const { stdout } = await promisify(execFile)('unshare', ['--user', '--map-root-user', '--net', ...node], {
      cwd: fileURLToPath(new URL('..', import.meta.url))
    })
    expect(stdout).toBe('unknown unreachable\n')
  })

  it.each([
    ['ECONNREFUSED', 'refused'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['EACCES', 'unreachable'],
    ['EPERM', 'unreachable'],
    ['ETIMEDOUT', 'timed-out'],
    ['ECONNRESET', 'broken'],
    ['UND_ERR_SOCKET', 'broken'],
    ['UND_ERR_INVALID_ARG', 'bad-record'],
    [undefined, 'broken']
  ])('a request that failed with %s is %s', (code, why) => {
    expect(silenceOf(Object.assign(new Error('x'), { code }))).toBe(why)
  })

  it('whatever is thrown is a broken connection', () => {
    for (const fault of [undefined, null, 'EHOSTUNREACH', 7]) expect(silenceOf(fault)).toBe('broken')
  })
})

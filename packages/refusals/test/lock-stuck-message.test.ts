import { describe, expect, it } from 'vitest'
import { lockStuckMessage } from '../src/index.js'
import { agent } from './example.js'

const path = '/leases/7c0e.lock'

describe('the sentence for a lock that is not given back', () => {
  it('names the stopped process and how to let it go on', () => {
    expect(lockStuckMessage(agent, path, { pid: 9, command: 'node cli.js run', stopped: true })).toBe(
      'The lease of Agent3 is locked (/leases/7c0e.lock) by pid 9 (node cli.js run), which is stopped. Nothing was started. Let it go on (`kill -CONT 9`) or end it, then try again.'
    )
  })

  it('names a process that only takes long', () => {
    expect(lockStuckMessage(agent, path, { pid: 9, command: '', stopped: false })).toBe(
      'The lease of Agent3 is locked (/leases/7c0e.lock) by pid 9. Nothing was started. Try again; if that does not help, end the process that locks it.'
    )
  })

  it('says that the process could not be found', () => {
    expect(lockStuckMessage(agent, path)).toBe(
      'The lease of Agent3 is locked (/leases/7c0e.lock) by a process that could not be found. Nothing was started. Try again; if that does not help, end the process that locks it.'
    )
  })

  it('never advises a kill that hits more than one process', () => {
    expect(lockStuckMessage(agent, path, { pid: -1, command: '', stopped: true })).toContain(
      '`kill -CONT PID`'
    )
  })
})

import { describe, expect, it } from 'vitest'
import { isAdmissionRefusal, leaseIoMessage } from '../src/index.js'
import { agent, nameless } from './example.js'

const path = '/home/a/.agentmux/shared/agents/registry/leases/7c0e.lease.json'

describe('the sentence for a lease file that could not be used', () => {
  it('names the path, the system’s words and the way out', () => {
    expect(leaseIoMessage(agent, { path, code: 'ENOSPC', text: 'no space left on device' })).toBe(
      `The lease of Agent3 could not be read or written: ${path}: ENOSPC: no space left on device. Nothing was started. Free some space there, then try again.`
    )
  })

  it('says the code once when the system’s words have it already', () => {
    const text = `EACCES: permission denied, open '${path}'`
    expect(leaseIoMessage(nameless, { path, code: 'EACCES', text })).toBe(
      `The lease of this agent could not be read or written: ${path}: EACCES: permission denied, open '${path}'. Nothing was started. Give this user the right to read and write there, then try again.`
    )
  })

  it.each([
    ['EDQUOT', 'Free some space there, then try again.'],
    ['EPERM', 'Give this user the right to read and write there, then try again.'],
    ['EROFS', 'Make that file system writable or choose another folder with --shared-dir, then try again.'],
    ['ENOTDIR', 'Something that is not a folder stands in the way; move it, then try again.'],
    ['ENOLCK', 'That file system cannot lock files; choose another folder with --shared-dir.'],
    [
      'EMFILE',
      'Too many files are open; close some programs or raise the limit (ulimit -n), then try again.'
    ],
    ['EIO', 'Check that the disk or the network share answers, then try again.'],
    ['EWHATEVER', 'Check that path, then try again.'],
    ['', 'Check that path, then try again.']
  ])('gives a way out for %s', (code, way) => {
    expect(leaseIoMessage(agent, { path, code, text: '' })).toBe(
      `The lease of Agent3 could not be read or written: ${path}: ${code || 'unknown error'}. Nothing was started. ${way}`
    )
  })

  it('stays a sentence when nothing is known', () => {
    expect(leaseIoMessage(nameless, { path: '', code: '', text: '' })).toBe(
      'The lease of this agent could not be read or written: unknown path: unknown error. Nothing was started. Check that path, then try again.'
    )
  })

  it.each([
    [
      'the agent’s name',
      { uid: 'u', name: 'X is already running in another AgentMux instance' },
      { path, code: '', text: '' }
    ],
    ['the path', agent, { path: '/x/Lost its single-instance lease/y', code: '', text: '' }],
    ['the system’s words', agent, { path, code: '', text: 'it WAS TAKEN OVER by another AgentMux instance' }],
    [
      'a letter that lower-cases into one',
      agent,
      { path, code: '', text: 'was ta\u212aen over by another agentmux instance' }
    ]
  ])('is no admission refusal even if %s contains a marker', (_where, named, fault) => {
    expect(isAdmissionRefusal(leaseIoMessage(named, fault))).toBe(false)
  })

  it('keeps a broken marker readable', () => {
    expect(
      leaseIoMessage(agent, { path: '/x/lost its single-instance lease/y', code: '', text: '' })
    ).toContain('/x/lost its single-instance_lease/y')
  })
})

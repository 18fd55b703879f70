import { describe, expect, it } from 'vitest'
import { processesRemainMessage } from '../src/index.js'
import { agent } from './example.js'

const head = 'Agent3 cannot start: processes of its previous run are still there: pid 4242 (claude --resume)'

describe('the sentence for processes of a previous claim', () => {
  it.each([
    ['another-user', 'belongs to another user. Ask its user or an administrator to end it (`kill 4242`).'],
    [
      'protected',
      'is this command itself, or what started it. Start the agent from a terminal that its previous run did not open.'
    ],
    [
      'untrusted-lease',
      'was not ended, as others can write the lease that names it. Let nobody but yourself write the lease folder, or end it yourself if it is the agent (`kill 4242`).'
    ],
    [
      'unverified',
      'was not ended, as it could not be checked whether it is the agent. Look at it (`ps -fp 4242`), and end it yourself if it is the agent (`kill 4242`).'
    ],
    [
      'survived',
      'was killed and has not ended yet. Wait until it ends; it is likely stuck on a disk or a network share.'
    ]
  ] as const)('names pid and command, why, and what to do: %s', (because, rest) => {
    expect(processesRemainMessage(agent, [{ pid: 4242, command: 'claude --resume', because }])).toBe(
      `${head} ${rest} Then try again.`
    )
  })

  it('gives each advice once, with the pids it is about', () => {
    const text = processesRemainMessage(agent, [
      { pid: 4242, command: 'claude --resume', because: 'another-user' },
      { pid: 4243, command: '', because: 'unverified' },
      { pid: 4244, command: '', because: 'unverified' }
    ])
    expect(text).toBe(
      `${head} belongs to another user; pid 4243 was not ended, as it could not be checked whether it is the agent; pid 4244 was not ended, as it could not be checked whether it is the agent. Ask its user or an administrator to end it (\`kill 4242\`). Look at it (\`ps -fp 4243,4244\`), and end it yourself if it is the agent (\`kill 4243 4244\`). Then try again.`
    )
  })

  it('names five and counts the others', () => {
    const many = Array.from({ length: 40 }, (_, n) => ({
      pid: 100 + n,
      command: 'sh',
      because: 'survived' as const
    }))
    const text = processesRemainMessage(agent, many)
    expect(text).toContain('pid 104 (sh) was killed and has not ended yet; and 35 more. Wait')
    expect(text).not.toContain('pid 105')
  })

  it.each([-1, 0, Number.NaN, 1.5])('never advises a kill that hits more than one process: pid %d', (pid) => {
    const text = processesRemainMessage(agent, [{ pid, command: '', because: 'unverified' }])
    expect(text).toContain('still there: a process of unknown pid was not ended')
    expect(text).toContain('(`ps -fp PID`), and end it yourself if it is the agent (`kill PID`)')
  })

  it('never advises to kill pid 1', () => {
    expect(processesRemainMessage(agent, [{ pid: 1, command: 'init', because: 'another-user' }])).toContain(
      'pid 1 (init) belongs to another user. Ask its user or an administrator to end it (`kill PID`)'
    )
  })

  it('stays a sentence without a process', () => {
    expect(processesRemainMessage(agent, [])).toBe(
      'Agent3 cannot start: processes of its previous run are still there. Try again later.'
    )
  })
})

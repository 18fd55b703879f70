import { describe, expect, it } from 'vitest'
import {
  askingToLetGoMessage,
  isAdmissionRefusal,
  reservedMessage,
  TAKE_OVER_FAILURES,
  takeOverMessage,
  takeOverQuestion
} from '../src/index.js'
import { agent, here, NOW_MS, nameless, onLan } from './example.js'

const AT = 'on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min)'

describe('the sentence when a take-over did not come about', () => {
  it.each([
    [
      'another-computer',
      { holder: onLan },
      'Agent3 was not taken over: its lease was written on another computer on your network (host barn, channel stable, v0.44.1, for 3 min), which uses the same shared folder. End it there, then start it here.'
    ],
    [
      'not-running',
      { holder: here },
      `Agent3 was not taken over: the instance that its lease names ${AT} is not there to be asked. If that one has ended, the lease runs out by itself in moments; if it runs, end the agent there.`
    ],
    [
      'refused',
      { holder: here, said: 'a turn is under way.' },
      `Agent3 was not taken over: the instance that drives it ${AT} refused, saying "a turn is under way". End the agent there, or try again.`
    ],
    [
      'refused',
      { holder: here, said: '' },
      `Agent3 was not taken over: the instance that drives it ${AT} refused. End the agent there, or try again.`
    ],
    [
      'too-old',
      { holder: here },
      `Agent3 was not taken over: the instance that drives it ${AT} is too old to be asked. End the agent there, then start it here.`
    ],
    [
      'no-answer',
      { holder: here },
      `Agent3 was not taken over: the instance that drives it ${AT} did not answer. Try again, or end the agent there.`
    ],
    [
      'ran-out',
      { holder: here, waitedMs: 25_000 },
      `Agent3 was not taken over: it was not free within 25 s; still driven ${AT}. Try again: it may be about to end.`
    ],
    [
      'outrun',
      { holder: here },
      `Agent3 was not taken over: somebody else took it over at the same time, and it is kept for them ${AT}. Leave it there, or take it over once more.`
    ],
    ['ran-out', {}, 'Agent3 was not taken over: it was not free in time. Try again: it may be about to end.']
  ] as const)('%s %j', (failure, options, expected) => {
    expect(takeOverMessage(agent, failure, NOW_MS, { ...options, actions: [] })).toBe(expected)
  })

  it.each(TAKE_OVER_FAILURES)('%s: offers no take-over again, whatever the holder said', (failure) => {
    const said =
      'it\u001b[31m was taken over by another AgentMux instance\nand lost its single-instance lease'
    const text = takeOverMessage(nameless, failure, NOW_MS, { holder: here, said })
    expect(isAdmissionRefusal(text)).toBe(false)
    expect(text).not.toMatch(/\p{Cc}/u)
    expect(text.startsWith('This agent was not taken over: ')).toBe(true)
    expect(text.includes('`agentmux-srv status`')).toBe(failure !== 'another-computer')
  })
})

describe('what a person reads who takes an agent over', () => {
  it('asks with who is stopped by it', () => {
    expect(takeOverQuestion(agent, here, NOW_MS)).toBe(
      `Agent3 is driven ${AT}. Taking it over stops it there, and what it is doing is cut short. Take it over?`
    )
  })

  it('says whom it is asking', () => {
    expect(askingToLetGoMessage(agent, here, NOW_MS)).toBe(
      `Asking the instance that drives Agent3 ${AT} to let it go.`
    )
  })

  it('says for how long it is kept and how to start it', () => {
    expect(reservedMessage(agent, 30_000, NOW_MS, { from: here })).toBe(
      `Agent3 was let go ${AT} and is kept for this channel for 30 s. Start it with \`agentmux-srv run --uid 7c0e -- CMD…\`.`
    )
    expect(reservedMessage(nameless, 30_000, NOW_MS, { program: 'amx' })).toBe(
      'This agent is driven by nobody and kept for this channel for 30 s. Start it with `amx run --uid 7c0e -- CMD…`.'
    )
  })

  it.each([
    ['let-go', `was let go ${AT} and is kept for this channel for 30 s. Start`],
    ['ended', `came to its end ${AT} and is kept for this channel for 30 s. Start`],
    [
      'died',
      `is kept for this channel for 30 s: the instance that drove it ${AT} has died. Whatever it has left running is ended when the agent is started. Start`
    ],
    [
      'ran-out',
      `is kept for this channel for 30 s: the instance that drove it ${AT} is stopped or stuck, and its lease has run out. Whatever`
    ]
  ] as const)('says how it came free: %s', (how, words) => {
    expect(reservedMessage(agent, 30_000, NOW_MS, { from: here, how })).toContain(`Agent3 ${words}`)
  })

  it('repeats the flags that were given in what to run next', () => {
    expect(reservedMessage(agent, 30_000, NOW_MS, { given: { channel: 'beta' } })).toContain(
      'Start it with `agentmux-srv run --uid 7c0e --channel beta -- CMD…`'
    )
  })
})

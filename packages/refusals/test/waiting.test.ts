import { describe, expect, it } from 'vitest'
import { isAdmissionRefusal, waitingMessage, waitRanOutMessage, watchingMessage } from '../src/index.js'
import { agent, here, NOW_MS, nameless, onLan } from './example.js'

describe('the sentence when --wait ran out', () => {
  it('names the holder like any other refusal, and how long was waited', () => {
    const text = waitRanOutMessage(agent, 30_000, NOW_MS, { holder: here })
    expect(text).toBe(
      'Agent3 is already running in another AgentMux instance on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min) and did not become free within 30 s. End it where it runs, or wait longer with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
    expect(isAdmissionRefusal(text)).toBe(true)
  })

  it('claims no holder where none is known', () => {
    const text = waitRanOutMessage(nameless, 90_000, NOW_MS, { actions: ['wait'] })
    expect(text).toBe(
      'This agent did not become free within 90 s. Wait longer with `agentmux-srv run --uid 7c0e --wait -- CMD…`.'
    )
    expect(isAdmissionRefusal(text)).toBe(false)
  })
})

describe('the lines of progress', () => {
  it('say that the lease is watched, why, and for how much longer', () => {
    expect(watchingMessage(agent, 14_200)).toBe(
      'Watching the lease of Agent3 for 15 s, to see whether its holder is alive.'
    )
  })

  it('say who is waited for, how long already, and how long at most', () => {
    expect(waitingMessage(agent, here, NOW_MS, { waitedMs: 12_000, limitMs: 60_000 })).toBe(
      'Waiting for Agent3, held on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min): 12 s so far, at most 60 s.'
    )
    expect(waitingMessage(nameless, onLan, NOW_MS)).toBe(
      'Waiting for this agent, held on another computer on your network (host barn, channel stable, v0.44.1, for 3 min).'
    )
  })
})

import { describe, expect, it } from 'vitest'
import { takenOverMessage } from '../src/index.js'
import { agent, here, NOW_MS } from './example.js'

describe('the sentence where an agent was taken over', () => {
  it('names who has it and for how long it is kept there, never too short', () => {
    expect(takenOverMessage(agent, here, NOW_MS, { retryAfterMs: 28_400 })).toBe(
      'Agent3 was taken over by another AgentMux instance on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min). It is kept for that instance for another 29 s. End it where it runs, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('does without the holder and without a reservation', () => {
    expect(takenOverMessage(agent, undefined, NOW_MS, { actions: [], retryAfterMs: 0 })).toBe(
      'Agent3 was taken over by another AgentMux instance.'
    )
  })
})

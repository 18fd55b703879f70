import { describe, expect, it } from 'vitest'
import { takenOverMessage } from '../src/index.js'
import { agent, here, NOW_MS } from './example.js'

describe('the sentence where an agent was taken over', () => {
  it('names who has it and for how long it is kept there, never too short', () => {
    expect(takenOverMessage(agent, here, NOW_MS, { retryAfterMs: 28_400 })).toBe(
      'Agent3 was taken over by another AgentMux instance on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min). It is kept for channel stable for another 29 s. Wait until then, with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('says while it is kept that a person may take it back, with the flags that were given', () => {
    const given = { channel: 'beta', sharedDir: '/srv/shared' }
    expect(
      takenOverMessage(agent, { ...here, channel: '' }, NOW_MS, {
        actions: ['end', 'wait', 'take-over', 'status'],
        given,
        retryAfterMs: 1
      })
    ).toContain(
      'It is kept for that instance for another 1 s. Wait until then, with `agentmux-srv run --uid 7c0e --wait --channel beta --shared-dir /srv/shared -- CMD…`, or take it back with `agentmux-srv take-over 7c0e --channel beta --shared-dir /srv/shared`, which a person has to confirm. `agentmux-srv status --shared-dir /srv/shared` shows'
    )
  })

  it.each(['$(reboot)', 'a b', "'", '-x', '', '`', 'x'.repeat(300), 'a\nb'])(
    'puts the word for a flag where a shell would not take it as it stands: %j',
    (odd) => {
      const given = { channel: odd, sharedDir: odd }
      const text = takenOverMessage(agent, here, NOW_MS, { actions: ['take-over'], given, retryAfterMs: 1 })
      expect(text).toContain('take-over 7c0e --channel CHANNEL --shared-dir DIR`')
    }
  )

  it('advises to end it once nothing keeps it any more', () => {
    expect(takenOverMessage(agent, here, NOW_MS, {})).toContain('End it where it runs')
  })

  it('does without the holder and without a reservation', () => {
    expect(takenOverMessage(agent, undefined, NOW_MS, { actions: [], retryAfterMs: 0 })).toBe(
      'Agent3 was taken over by another AgentMux instance.'
    )
  })
})

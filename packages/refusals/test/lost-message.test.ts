import { describe, expect, it } from 'vitest'
import { lostMessage } from '../src/index.js'
import { agent, here, NOW_MS, nameless, onLan } from './example.js'

describe('the sentence at a holder that lost its lease', () => {
  it('names who took it', () => {
    expect(lostMessage(agent, 'other-owner', NOW_MS, { holder: here })).toBe(
      'Agent3 lost its single-instance lease: another owner took it; it is now held on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min). This process no longer drives it. End it where it runs, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('names the computer that won it, and does not send the reader to the status of this host', () => {
    expect(lostMessage(agent, 'other-owner', NOW_MS, { holder: onLan })).toBe(
      'Agent3 lost its single-instance lease: another owner took it; it is now held on another computer on your network (host barn, channel stable, v0.44.1, for 3 min). This process no longer drives it. End it on that computer, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`.'
    )
  })

  it('tells the loser of a tie-break which computer keeps the agent, since when, and what now', () => {
    expect(lostMessage(agent, 'yielded', NOW_MS, { holder: onLan })).toBe(
      'Agent3 lost its single-instance lease: it also runs on another computer on your network (host barn, channel stable, v0.44.1, for 3 min), and that one keeps it. This process no longer drives it. End it on that computer, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`.'
    )
    expect(lostMessage(agent, 'yielded', NOW_MS)).toBe(
      'Agent3 lost its single-instance lease: it also runs on another computer on your network, and that one keeps it. This process no longer drives it. End it on that computer, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`.'
    )
  })

  it('does without a name for the new owner', () => {
    expect(lostMessage(nameless, 'other-owner', NOW_MS)).toBe(
      'This agent lost its single-instance lease: another owner took it. This process no longer drives it. End it where it runs, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('says that the newer claim of the same process counts', () => {
    expect(lostMessage(agent, 'reclaimed', NOW_MS)).toBe(
      'Agent3 lost its single-instance lease: its own process claimed it again, and only the newer claim counts. This process no longer drives it. Go on with the newer claim.'
    )
  })

  it('says what stood in the way of confirming', () => {
    expect(lostMessage(agent, 'unconfirmed', NOW_MS, { detail: 'EIO: i/o error, fsync' })).toBe(
      'Agent3 lost its single-instance lease: it could not be confirmed in time (EIO: i/o error, fsync). This process no longer drives it. Once its lease folder answers, start it again; `agentmux-srv status` shows whether it is still free.'
    )
  })

  it('says that the file is gone', () => {
    expect(lostMessage(agent, 'lease-removed', NOW_MS)).toBe(
      'Agent3 lost its single-instance lease: its lease file was removed. This process no longer drives it. Start it again; `agentmux-srv status` shows whether it is still free.'
    )
  })

  it('names whoever has it by now, whatever the reason', () => {
    expect(lostMessage(agent, 'unconfirmed', NOW_MS, { holder: here })).toContain(
      'could not be confirmed in time; it is now held on this host (host mill,'
    )
    expect(lostMessage(agent, 'lease-removed', NOW_MS, { holder: here })).toContain(
      'was removed; it is now held on this host (host mill,'
    )
  })

  it('does not mention status where there is none', () => {
    expect(lostMessage(agent, 'lease-removed', NOW_MS, { actions: [] })).toMatch(
      /drives it\. Start it again\.$/
    )
  })
})

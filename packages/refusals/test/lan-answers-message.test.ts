import { describe, expect, it } from 'vitest'
import { isAdmissionRefusal, LAN_SILENCES, lanAnswersMessage } from '../src/index.js'
import { agent, nameless } from './example.js'

describe('what is said when nobody on the network says that he drives the agent', () => {
  it('calls it not running there only when everybody answered', () => {
    expect(lanAnswersMessage(agent, { answered: 3, silent: 0 })).toBe(
      'All 3 other instances on your network answered, and Agent3 does not run there.'
    )
    expect(lanAnswersMessage(nameless, { answered: 1, silent: 0 })).toBe(
      'The other instance on your network answered, and this agent does not run there.'
    )
  })

  it('says that there is nobody to ask', () => {
    expect(lanAnswersMessage(agent, { answered: 0, silent: 0 })).toBe(
      'No other AgentMux instance is seen on your network that could run Agent3.'
    )
  })

  it('says that nobody can be found without multicast', () => {
    expect(lanAnswersMessage(agent, { answered: 0, silent: 0, because: 'no-multicast' })).toBe(
      'Whether Agent3 runs on another computer could not be found out: others cannot be found, since multicast does not work here. A container, a VPN, a firewall or a missing permission may stand in the way.'
    )
  })

  it('says that it is unknown when nobody answered, and what may stand in the way', () => {
    expect(lanAnswersMessage(agent, { answered: 0, silent: 4, because: 'unreachable' })).toBe(
      'Whether Agent3 runs on another computer could not be found out: of 4 other instances on your network none gave an answer that counts. The network does not lead there: a firewall, a VPN or a missing permission for the local network may stand in the way.'
    )
  })

  it('says where it may still run when only some answered', () => {
    expect(lanAnswersMessage(agent, { answered: 1, silent: 2, because: 'timed-out' })).toBe(
      '1 other instance on your network answered, and Agent3 does not run there; 2 more gave no answer that counts, and it may run there. They may be asleep, stopped, or behind a firewall that answers nothing.'
    )
  })

  it.each(LAN_SILENCES)('has a hint for %s, on one line and without a marker', (because) => {
    for (const answered of [0, 2]) {
      const name = 'x\u001b[2J lost its single-instance lease'
      const said = lanAnswersMessage({ uid: 'u', name }, { answered, silent: 1, because })
      expect(said).toMatch(/ (counts|there)\. [A-Z`].+\.$/)
      expect(said).not.toMatch(/[\p{Cc}]/u)
      expect(isAdmissionRefusal(said)).toBe(false)
    }
  })

  it('does not call silence free', () => {
    for (const because of LAN_SILENCES) {
      expect(lanAnswersMessage(agent, { answered: 0, silent: 1, because })).toContain(
        'could not be found out'
      )
    }
  })
})

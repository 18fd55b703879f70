import { unnamedHolder } from '@agentmux/lease-model'
import { describe, expect, it } from 'vitest'
import { deniedMessage, lanDeniedMessage, wanDeniedMessage } from '../src/index.js'
import { agent, atRelay, here, NOW_MS, nameless, onLan } from './example.js'

describe('the sentence for a newcomer', () => {
  it('names holder, place and since when on this host, and what exists to do about it', () => {
    expect(deniedMessage(agent, here, NOW_MS)).toBe(
      'Agent3 is already running in another AgentMux instance on this host (host mill, channel stable, v0.44.1, pid 4242, for 3 min). End it where it runs, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('names another computer on the network, of which status here knows nothing', () => {
    expect(lanDeniedMessage(agent, onLan, NOW_MS)).toBe(
      'Agent3 is already running in another AgentMux instance on another computer on your network (host barn, channel stable, v0.44.1, for 3 min). End it on that computer, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`.'
    )
  })

  it('names a computer that only the relay sees', () => {
    expect(wanDeniedMessage(agent, atRelay, NOW_MS)).toBe(
      'Agent3 is already running in another AgentMux instance on another computer, according to the relay (host laptop, channel dev, v0.44.1, for 3 min). End it on that computer.'
    )
  })

  it('says so when neither the agent nor the holder has a name', () => {
    expect(deniedMessage(nameless, unnamedHolder('this-host'), NOW_MS)).toBe(
      'This agent is already running in another AgentMux instance on this host (nothing more is known). End it where it runs, or wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('says the place of its tier, whatever the holder says', () => {
    expect(lanDeniedMessage(agent, here, NOW_MS)).toContain('on another computer on your network')
    expect(wanDeniedMessage(agent, here, NOW_MS)).toContain('according to the relay')
    expect(deniedMessage(agent, onLan, NOW_MS)).toContain('on this host')
  })
})

describe('the advice', () => {
  const said = (...args: Parameters<typeof deniedMessage>) => deniedMessage(...args).split('). ')[1] ?? ''

  it('names the take-over command only where the caller says it exists', () => {
    expect(deniedMessage(agent, here, NOW_MS)).not.toContain('take-over')
    expect(said(agent, here, NOW_MS, { actions: ['end', 'wait', 'take-over', 'status'] })).toBe(
      'End it where it runs, wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`, or move it here with `agentmux-srv take-over 7c0e`. `agentmux-srv status` shows who holds what on this host.'
    )
  })

  it('sends a take-over to the computer that can do it', () => {
    expect(lanDeniedMessage(agent, onLan, NOW_MS, { actions: ['take-over'] })).toContain(
      '). Free it on that computer with `agentmux-srv take-over 7c0e`.'
    )
  })

  it('keeps the order of the actions and names each once', () => {
    expect(said(agent, here, NOW_MS, { actions: ['wait', 'end', 'wait'] })).toBe(
      'Wait for it with `agentmux-srv run --uid 7c0e --wait -- CMD…`, or end it where it runs.'
    )
  })

  it('is left out when there is none', () => {
    expect(deniedMessage(agent, here, NOW_MS, { actions: [] })).toMatch(/for 3 min\)\.$/)
  })

  it('starts the command line as the reader does', () => {
    expect(said(agent, here, NOW_MS, { actions: ['wait'], program: 'npm start --' })).toBe(
      'Wait for it with `npm start -- run --uid 7c0e --wait -- CMD…`.'
    )
  })

  it.each(['a b', '$(reboot)', "it's", '-n', '../x', '', 'x'.repeat(129), 'a\nb', 'ü'])(
    'never puts a UID that a shell would read otherwise into a command line: %j',
    (uid) => {
      expect(said({ uid }, here, NOW_MS, { actions: ['wait'] })).toBe(
        'Wait for it with `agentmux-srv run --uid UID --wait -- CMD…`.'
      )
    }
  )
})

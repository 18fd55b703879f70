/** Messages that wait at the relay become turns of the agent that is driven here: each once, and none moves an agent (R5). */
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { recordOf } from './harness/http-reading.js'
import { lives } from './harness/processes.js'
import { heldAtRelay, listening, paneOf, relayTest as test } from './harness/relay-house.js'
import { BARN } from './harness/scripted-relay.js'
import { until } from './harness/until.js'

const heard = (transcript: string, text: string) =>
  readFileSync(transcript, 'utf8')
    .split('\n')
    .filter((line) => line.includes(text)).length

describe.concurrent('a message', () => {
  test('becomes one turn, which stands in the record', async ({ scene, relay, openHouse }) => {
    relay.inject('agent3', 'hello from afar')
    const house = await openHouse()
    const transcript = scene.newPath('transcript')
    const pane = await house.openPane(listening(transcript))
    await until('it is heard', () => scene.exists(transcript) && heard(transcript, 'hello from afar') > 0)
    await house.client.post(`/api/v1/agents/${pane.blockId}/turns`, { text: 'the last one' })
    await until('the last one is heard', () => heard(transcript, 'the last one') > 0)
    expect(heard(transcript, 'hello from afar')).toBe(1)
    const turns = (await recordOf(house, pane.blockId)).filter(({ event }) => event.kind === 'turn')
    expect(turns.map(({ event }) => event.text)).toEqual(['hello from afar', 'the last one'])
    expect(relay.pending.get('agent3')).toEqual([])
    // Claimed before it was delivered.
    expect(relay.paths(/reactive\/ack$/)).toHaveLength(1)
    expect(await house.logged()).not.toContain('hello from afar')
  })

  test('goes back when its agent takes no input, and waits there', async ({ scene, relay, openHouse }) => {
    const house = await openHouse()
    const transcript = scene.newPath('transcript')
    const pane = await house.openPane(listening(transcript, '--deaf'))
    await until('its input is closed', async () => {
      const sent = await house.client.post(`/api/v1/agents/${pane.blockId}/turns`, { text: 'are you there' })
      return sent.status === 410
    })
    relay.inject('agent3', 'into the void')
    await until('it came back', () => relay.paths(/reactive\/release$/).length > 0)
    await until('it waits again', () => relay.pending.get('agent3')?.length === 1)
    expect(heard(transcript, 'into the void')).toBe(0)
  })

  test('for an agent that another computer has ends ours, and stays for that computer', async ({
    relay,
    openHouse
  }) => {
    relay.inject('agent3', 'not for you')
    // The other computer has it by the time that we look for messages.
    relay.answering(({ path }) => {
      if (path === '/reactive/pending/agent3') relay.leases.set('agent3', BARN)
      return false
    })
    const house = await openHouse()
    const pane = await house.openPane()
    const taken = () => relay.paths(/lease\/take$/)
    await until('ours has ended, or took it', () => !lives(pane.pid) || taken().length > 0)
    expect(taken()).toEqual([])
    expect((await paneOf(house, pane.blockId)).refusal.message).toContain('host barn')
    expect(relay.leases.get('agent3')).toEqual(BARN)
    expect(relay.pending.get('agent3')).toHaveLength(1)
    expect(relay.paths(/reactive\/ack$/)).toEqual([])
  })

  test('opens, takes and moves nothing, whatever it says', async ({ scene, relay, openHouse }) => {
    const house = await openHouse()
    const pane = await house.openPane({ uid: 'other', agent: 'Ada' })
    await heldAtRelay(relay, 'ada')
    relay.leases.set('agent3', BARN)
    relay.inject('agent3', 'take over agent3 now')
    relay.inject('ada', '/take-over agent3')
    await until('what is for Ada has come', () => relay.pending.get('ada')?.length === 0)
    await until('a tick has passed', () =>
      relay.paths(/renew-batch$/).some(({ body }) => body.agents.length > 0)
    )
    expect(relay.leases.get('agent3')).toEqual(BARN)
    expect(relay.paths(/lease\/take$/)).toEqual([])
    expect(relay.paths(/pending\/agent3$/)).toEqual([])
    expect(scene.exists(scene.leaseFile())).toBe(false)
    expect(house.panes.list().map(({ blockId }) => blockId)).toEqual([pane.blockId])
  })
})

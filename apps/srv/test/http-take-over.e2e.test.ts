/** An agent moves between two daemons because somebody with the full key asks for it over HTTP; both say so. */
import { isAdmissionRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { bodyOf, metric, recordOf } from './harness/http-reading.js'
import { openPane } from './harness/pane-over-http.js'
import { test } from './harness/scene.js'
import { ServedDaemon } from './harness/served.js'

/** An agent that repeats what it hears. */
const ECHO = { command: ['sed', '-u', 's/^/heard /'] }
const TAKE_OVER = '/api/v1/agent/takeover'

describe('an agent', () => {
  test('moves to the pane for which it is asked, and the other is superseded', async ({ scene }) => {
    const stable = await ServedDaemon.start(scene, 'stable')
    const beta = await ServedDaemon.start(scene, 'beta')
    const mine = await openPane(beta.client, scene, ECHO)
    await beta.client.post(`/api/v1/agents/${mine.blockId}/close`, {})
    const theirs = await openPane(stable.client, scene, ECHO)
    await stable.client.post(`/api/v1/agents/${theirs.blockId}/turns`, { text: 'before' })

    const taken = await beta.client.post(TAKE_OVER, { block_id: mine.blockId })
    expect({ ...taken, body: bodyOf(taken) }).toMatchObject({
      status: 200,
      body: { ok: true, released: true, from_channel: 'stable' }
    })
    expect(bodyOf(await beta.client.get('/api/v1/agents')).agents).toMatchObject([
      { block_id: mine.blockId, state: 'running', epoch: 3 }
    ])
    expect(bodyOf(await stable.client.get('/api/v1/agents')).agents).toMatchObject([
      {
        block_id: theirs.blockId,
        state: 'superseded',
        refusal: { kind: 'taken-over', holder: { channel: 'beta' } }
      }
    ])

    const late = await stable.client.post(`/api/v1/agents/${theirs.blockId}/turns`, { text: 'late' })
    expect(late.status).toBe(409)
    expect(isAdmissionRefusal(bodyOf(late).error)).toBe(true)
    const again = await stable.client.post('/api/v1/agents', { uid: scene.uid, command: ['true'] })
    expect(again.status).toBe(409)
    const lines = await recordOf(stable, theirs.blockId)
    expect(lines.filter(({ event }) => event.kind === 'turn').map(({ event }) => event.text)).toEqual([
      'before'
    ])

    const from = { channel: 'stable' }
    const to = { channel: 'beta' }
    const agent = { uid: scene.uid, name: 'Agent3' }
    expect(await stable.logged('handed-over')).toMatchObject({ agent, from, to, epoch: 2 })
    expect(await beta.logged('taken-over')).toMatchObject({ agent, from, to, epoch: 3 })
    for (const { client } of [stable, beta]) {
      expect(await metric({ client }, 'agentmux_lease_takeover_total{tier="host"}')).toBe(1)
    }
    expect(await metric(stable, 'agentmux_lease_held')).toBe(0)
    expect(await metric(beta, 'agentmux_lease_held')).toBe(1)
    await Promise.all([stable.stop(), beta.stop()])
  })

  test('is not taken over for a pane that is not there', async ({ scene }) => {
    const beta = await ServedDaemon.start(scene, 'beta')
    expect(await beta.client.post(TAKE_OVER, { block_id: 'no-such-block' })).toMatchObject({
      status: 404,
      body: '{"error":"no such pane"}'
    })
    await beta.stop()
  })
})

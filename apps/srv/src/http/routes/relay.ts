/** The relay of this daemon: what is held there, who has an agent, and its step of a take-over that a person asked for (R5). */
import * as z from 'zod/mini'
import { clientGone } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { agentName, name, typedUid } from '../request-fields.js'

const question = z.object({ agent: agentName })
const taking = z.object({ uid: typedUid, agent: agentName, from_channel: z.optional(name) })

export function addRelayRoutes(app: HttpApp, { relay }: Pick<HttpPorts, 'relay'>): void {
  const config = { opens: FULL }
  app.get('/api/v1/relay', { config }, async () =>
    relay === undefined ? { enabled: false } : { enabled: true, ...relay.view() }
  )
  app.get('/api/v1/relay/holder', { config, schema: { querystring: question } }, async (request, reply) => {
    const answer = await relay?.holder(request.query.agent, clientGone(reply.raw))
    return answer ?? { kind: 'off' }
  })
  app.post('/api/v1/relay/take-over', { config, schema: { body: taking } }, async ({ body }, reply) => {
    const { uid, agent, from_channel: letGoBy } = body
    if (relay === undefined) return { ok: true, relay: 'off' }
    const taken = await relay.takeOver(agent, { letGoBy, signal: clientGone(reply.raw) })
    if (taken.kind === 'held-elsewhere') {
      throw new HttpError(409, relay.deniedMessage({ uid, name: agent }, taken.holder))
    }
    return { ok: true, relay: taken.kind, ...(taken.kind === 'unknown' ? { why: taken.why } : {}) }
  })
}

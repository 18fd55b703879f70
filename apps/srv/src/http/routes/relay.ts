/** The relay of this daemon: what is held there, who has an agent, and its step of a take-over that a person asked for (R5). */
import { wanDeniedMessage } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { clientGone } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { agentName, typedUid } from '../request-fields.js'

const question = z.object({ agent: agentName })
const taking = z.object({ uid: typedUid, agent: agentName })

export function addRelayRoutes(app: HttpApp, { relay, clock }: Pick<HttpPorts, 'relay' | 'clock'>): void {
  const config = { opens: FULL }
  app.get('/api/v1/relay', { config }, async () =>
    relay === undefined ? { enabled: false } : { enabled: true, ...relay.view() }
  )
  app.get('/api/v1/relay/holder', { config, schema: { querystring: question } }, async (request, reply) => {
    const answer = await relay?.holder(request.query.agent, clientGone(reply.raw))
    return answer ?? { kind: 'off' }
  })
  app.post('/api/v1/relay/take-over', { config, schema: { body: taking } }, async ({ body }, reply) => {
    const { uid, agent: name } = body
    const taken = await relay?.takeOver(name, clientGone(reply.raw))
    if (taken?.kind !== 'held-elsewhere') return { ok: true, relay: taken?.kind ?? 'off' }
    throw new HttpError(409, wanDeniedMessage({ uid, name }, taken.holder, clock.wallMs()))
  })
}

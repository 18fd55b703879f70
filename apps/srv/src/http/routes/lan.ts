/** The LAN of this daemon: whether it is on and what it sees, turning it on and off, and who on the network holds an agent. */
import * as z from 'zod/mini'
import { clientGone } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { typedUid } from '../request-fields.js'

const turning = z.object({ enabled: z.boolean() })
const question = z.object({ uid: typedUid })

export function addLanRoutes(app: HttpApp, { lan }: Pick<HttpPorts, 'lan'>): void {
  const config = { opens: FULL }
  app.get('/api/v1/lan', { config }, async () => lan.view())
  app.post('/api/v1/lan', { config, schema: { body: turning } }, async ({ body: { enabled } }) => {
    const turned = await lan.turn(enabled)
    if (turned.kind === 'not-turned') throw new HttpError(503, turned.why)
    return lan.view()
  })
  app.get('/api/v1/lan/holder', { config, schema: { querystring: question } }, async (request, reply) => {
    const answer = await lan.answer(request.query.uid, clientGone(reply.raw))
    return answer ?? { kind: 'off' }
  })
}

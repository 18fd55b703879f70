/**
 * The holder's half of a take-over: another instance, on behalf of a person, asks us to let an agent go (R5). Answers when
 * it is given up. For an asker that has gone meanwhile nothing is begun, and what was begun is reserved for nobody.
 */
import * as z from 'zod/mini'
import { clientGoneByNow } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import type { HttpPorts } from '../ports.js'
import { name, typedUid } from '../request-fields.js'

const release = z.object({
  uid: typedUid,
  agent: z.optional(name),
  requested_by_channel: z._default(name, ''),
  requested_by_version: z._default(name, '')
})

export function addReleaseRoute(app: HttpApp, { handOver }: Pick<HttpPorts, 'handOver'>): void {
  app.post(
    '/agentmux/agent/release',
    { config: { opens: FULL }, schema: { body: release } },
    async ({ body }, reply) => {
      const request = {
        uid: body.uid,
        ...(body.agent === undefined ? {} : { agent: body.agent }),
        requestedByChannel: body.requested_by_channel,
        requestedByVersion: body.requested_by_version
      }
      const { released, refused } = await handOver.release(request, await clientGoneByNow(reply.raw))
      if (refused !== undefined) return reply.code(409).send({ error: refused })
      return { ok: true, released }
    }
  )
}

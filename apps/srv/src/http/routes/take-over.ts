/** The requester's half of a take-over: a person here wants the agent of a pane back (PROTOCOL 6). A client that goes away stops it. */
import * as z from 'zod/mini'
import { clientGone } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import { notOpened } from '../not-opened.js'
import type { HttpPorts } from '../ports.js'
import { blockId } from '../request-fields.js'
import { retryFields } from '../retry-fields.js'

const takeOver = z.object({ block_id: blockId })

export function addTakeOverRoute(app: HttpApp, { takeOverPane }: Pick<HttpPorts, 'takeOverPane'>): void {
  app.post(
    '/api/v1/agent/takeover',
    { config: { opens: FULL }, schema: { body: takeOver } },
    async ({ body }, reply) => {
      const taken = await takeOverPane(body.block_id, clientGone(reply.raw))
      switch (taken.kind) {
        case 'done':
          if (!taken.released) return { ok: true, released: false }
          return { ok: true, released: true, from_channel: taken.fromChannel }
        case 'no-such-pane':
          throw new HttpError(404, 'no such pane')
        case 'refused':
          throw new HttpError(409, taken.message)
        case 'unknown':
          throw new HttpError(503, taken.message, retryFields(taken.retryAfterMs))
        case 'ran-out':
          throw new HttpError(504, taken.message)
        case 'not-opened':
          throw notOpened(taken.result)
      }
    }
  )
}

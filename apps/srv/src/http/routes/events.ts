/** Panes as they change, as server-sent events: first all there are, then each change. */
import type { EventStreams } from '../event-streams.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import { streamHeaders } from '../stream-headers.js'

export function addEventRoute(app: HttpApp, events: EventStreams): void {
  app.get('/api/v1/agents/events', { config: { opens: FULL } }, (_request, reply) => {
    if (events.full) throw new HttpError(429, 'too many event streams')
    reply.hijack()
    events.add(reply.raw, streamHeaders(reply))
  })
}

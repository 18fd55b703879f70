/** An agent's record from a position on, one JSON object per line: to its present end, or as it grows. Read-only. */
import type { ReadResult, RecordItem } from '@agentmux/host-admission'
import * as z from 'zod/mini'
import type { Panes } from '../../panes/panes.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import type { Items, RecordStreams } from '../record-streams.js'
import { streamHeaders } from '../stream-headers.js'

interface Place {
  readonly from?: number
}

const params = z.object({ block: z.string() })
const position = z
  .string()
  .check(z.refine((text) => Number.isSafeInteger(wholeIn(text)), { error: 'is not a position' }))
const question = z.object({ from: z.optional(position), follow: z.optional(z.enum(['0', '1'])) })

export function addRecordRoute(
  app: HttpApp,
  { panes }: Pick<HttpPorts, 'panes'>,
  records: RecordStreams
): void {
  app.get(
    '/api/v1/agents/:block/record',
    { config: { opens: FULL }, schema: { params, querystring: question } },
    async (request, reply) => {
      const { block } = request.params
      const { from, follow } = request.query
      const place = from === undefined ? {} : { from: wholeIn(from) }
      if (panes.get(block) === undefined) throw new HttpError(404, 'no such pane')
      if (records.full) throw new HttpError(429, 'too many streams')
      const items = follow === '1' ? following(panes, block, place) : await present(panes, block, place)
      reply.hijack()
      await records.send(reply.raw, streamHeaders(reply), items)
    }
  )
}

function following(panes: Panes, block: string, place: Place): Items {
  return (signal) => panes.follow(block, { ...place, signal }) ?? nothing()
}

/** The first part is read before the answer begins: what cannot be read is then said in its status. */
async function present(panes: Panes, block: string, place: Place): Promise<Items> {
  const first = await panes.read(block, place)
  return first === undefined ? nothing : () => remaining(panes, block, first)
}

async function* remaining(panes: Panes, block: string, first: ReadResult): AsyncGenerator<RecordItem> {
  for (let part: ReadResult | undefined = first; part !== undefined; ) {
    yield* part.items
    part = part.atEnd ? undefined : await panes.read(block, { from: part.next })
  }
}

async function* nothing(): AsyncGenerator<RecordItem> {}

function wholeIn(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** Messages for agents: queued by anyone of the account, pulled and acked by whoever holds the agent, and by nobody else. */
import type { FastifyReply } from 'fastify'
import * as z from 'zod/mini'
import { isMessageId, type Message } from '../../model/message.js'
import { tokenHash } from '../../model/token.js'
import { callerIn, keyFor, ownKey, presentedToken } from '../caller.js'
import type { HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpLimits } from '../http-limits.js'
import type { HttpPorts } from '../http-ports.js'
import { agentId, notHolder } from '../lease-json.js'
import type { Wakes } from '../wakes.js'

const MAX_PRIORITY_LENGTH = 32

const named = z.object({ agent: z.string() })
const ack = z.object({ injection_ids: z.array(z.string()) })
const release = z.object({ injection_id: z.string(), delivered_at: z.optional(z.unknown()) })
const inject = z.object({
  target_agent: agentId,
  message: z.string().check(z.minLength(1)),
  priority: z.nullish(z.union([z.string().check(z.maxLength(MAX_PRIORITY_LENGTH)), z.int()]))
})

type MessagePorts = Pick<HttpPorts, 'store' | 'clock'>

export function addMessageRoutes(app: HttpApp, ports: MessagePorts, limits: HttpLimits): void {
  const { messages } = ports.store
  const config = { opens: 'token' as const }

  app.get('/reactive/pending/:agent', { config, schema: { params: named } }, async (request) => {
    const caller = callerIn(request)
    const answer = await messages.pending(keyFor(caller, request.params.agent), caller)
    if (answer.kind === 'not-holder') throw notHolder(answer.heldBy)
    return { injections: answer.messages.map(injectionJson) }
  })

  app.post('/reactive/ack', { config, schema: { body: ack } }, async (request) => {
    const caller = callerIn(request)
    const ids = [...new Set(request.body.injection_ids)].filter(isMessageId)
    if (ids.length > limits.idsPerAck) throw new HttpError(413, 'too many ids')
    const answer = await messages.ack(ownKey(caller), ids, caller)
    if (answer.kind === 'not-holder') throw notHolder(answer.heldBy)
    return { acknowledged: answer.ids }
  })

  app.post('/reactive/release', { config, schema: { body: release } }, async (request) => {
    const caller = callerIn(request)
    const id = request.body.injection_id
    const isBack = isMessageId(id) && (await messages.giveBack(ownKey(caller), id, caller))
    if (!isBack) throw notHolder(undefined)
    return { ok: true }
  })

  app.post('/reactive/inject', { config, schema: { body: inject } }, async (request) => {
    const { token, agent: sourceAgent = '', requestKey } = callerIn(request)
    const { target_agent: target, message: text, priority } = request.body
    if (Buffer.byteLength(text) > limits.messageBytes) throw new HttpError(413, 'the message is too large')
    const message = {
      text,
      sourceAgent,
      priority: priority ?? undefined,
      createdAtMs: ports.clock.wallMs()
    }
    const key = keyFor({ ...callerIn(request), token: { ...token, agent: '' } }, target)
    const answer = await messages.inject(key, message, requestKey)
    if (answer.kind === 'full') throw new HttpError(507, 'queue_full', { fields: { success: false } })
    return { success: true, injection_id: answer.id }
  })
}

/** Messages that arrive, as server-sent events. */
export function addWakeRoute(app: HttpApp, wakes: Wakes): void {
  app.get('/reactive/wake', { config: { opens: 'token' } }, (request, reply) => {
    const { token } = callerIn(request)
    const hash = tokenHash(presentedToken(request.headers) ?? '')
    if (wakes.isFull(token)) throw new HttpError(503, 'too many streams', { retryAfterMs: 5_000 })
    reply.hijack()
    request.socket.setTimeout(0)
    wakes.add({ token, hash, response: reply.raw }, streamHeaders(reply))
  })
}

/** A stream is written without fastify, and is the last on its connection. */
function streamHeaders(reply: FastifyReply): Record<string, string> {
  const headers = Object.entries(reply.getHeaders())
  return { ...Object.fromEntries(headers.map(([name, value]) => [name, String(value)])), connection: 'close' }
}

function injectionJson({ id, text, sourceAgent, priority, createdAtMs }: Message) {
  return {
    id,
    ...(sourceAgent === '' ? {} : { source_agent: sourceAgent }),
    message: text,
    ...(priority === undefined ? {} : { priority }),
    created_at: createdAtMs
  }
}

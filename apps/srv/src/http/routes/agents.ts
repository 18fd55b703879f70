/** The panes of this daemon, for the command line and for consoles: list, open, one turn, close. */
import * as z from 'zod/mini'
import type { SendResult } from '../../panes/pane-answers.js'
import { clientGone } from '../client-gone.js'
import { FULL, type HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpLimits } from '../http-limits.js'
import { notOpened } from '../not-opened.js'
import { paneJson } from '../pane-json.js'
import type { HttpPorts } from '../ports.js'
import { agentName, uid } from '../request-fields.js'

const MAX_WORDS = 4_096
const MAX_GRACE_MS = 3_600_000

/** What the system takes: no NUL. */
const word = z.string().check(z.refine((text) => !text.includes('\0'), { error: 'must not hold a NUL' }))
/** With a = in its name it would be another variable. */
const variable = z.string().check(z.regex(/^[^=\0]+$/))
const opening = z.object({
  uid,
  agent: z.optional(agentName),
  command: z.tuple([word.check(z.minLength(1))], word).check(z.refine((words) => words.length <= MAX_WORDS)),
  cwd: z.optional(word),
  env: z.optional(z.record(variable, word))
})
const turn = z.object({ text: z.string() })
const closing = z.object({
  grace_ms: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_GRACE_MS)))
})
const params = z.object({ block: z.string() })

export function addAgentRoutes(app: HttpApp, { panes }: Pick<HttpPorts, 'panes'>, limits: HttpLimits): void {
  const config = { opens: FULL }
  app.get('/api/v1/agents', { config }, async () => ({ agents: panes.list().map(paneJson) }))

  app.post('/api/v1/agents', { config, schema: { body: opening } }, async ({ body }, reply) => {
    const { env, agent, cwd, ...asked } = body
    const request = {
      ...asked,
      ...(agent === undefined ? {} : { agent }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { environment: env })
    }
    const opened = await panes.open(request, clientGone(reply.raw))
    if (opened.kind !== 'opened') throw notOpened(opened)
    const { blockId, uid, epoch, pid } = opened.pane
    return reply.code(201).send({ block_id: blockId, uid, epoch, pid })
  })

  app.post(
    '/api/v1/agents/:block/turns',
    { config, schema: { params, body: turn }, bodyLimit: limits.turnBytes },
    async (request, reply) => {
      const { block } = request.params
      return turnSent(await sendTurn(() => panes.send(block, request.body.text, clientGone(reply.raw))))
    }
  )

  app.post('/api/v1/agents/:block/close', { config, schema: { params, body: closing } }, async (request) => {
    const { grace_ms: graceMs } = request.body
    const closed = await panes.close(request.params.block, graceMs === undefined ? {} : { graceMs })
    if (closed.kind === 'no-such-pane') throw new HttpError(404, 'no such pane')
    if (closed.kind === 'closed') return { agent: paneJson(closed.pane) }
    return { agent: paneJson(closed.pane), remaining: closed.processes }
  })
}

/** The text is the caller's, and so is its length. */
async function sendTurn(send: () => Promise<SendResult>): Promise<SendResult> {
  try {
    return await send()
  } catch (error) {
    if (error instanceof RangeError) throw new HttpError(413, 'the turn is too long')
    throw error
  }
}

function turnSent(sent: SendResult): { position: number; epoch: number } {
  switch (sent.kind) {
    case 'sent':
      return { position: sent.position, epoch: sent.epoch }
    case 'no-such-pane':
      throw new HttpError(404, 'no such pane')
    case 'ended':
      throw new HttpError(410, 'the agent has ended', { agent: paneJson(sent.pane) })
    case 'lost':
      throw new HttpError(409, sent.refusal.message, { refusal: sent.refusal })
    case 'unknown':
      throw new HttpError(503, sent.refusal.message, { refusal: sent.refusal })
    case 'busy':
      throw new HttpError(429, 'the agent has not read what was sent before')
  }
}

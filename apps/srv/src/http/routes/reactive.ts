/**
 * Which agents run here, and under which names: asked by other instances, and used by the panes themselves with their own
 * keys. A pane speaks for itself alone.
 */
import type { FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import { type HttpApp, REACTIVE } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { registrationJson } from '../registration-json.js'
import { agentName, blockId, name } from '../request-fields.js'

const registration = z.object({ agent_id: agentName, block_id: blockId, tab_id: z.optional(name) })
const withdrawal = z.object({ agent_id: agentName, block_id: z.optional(blockId) })

export function addReactiveRoutes(app: HttpApp, { panes }: Pick<HttpPorts, 'panes'>): void {
  app.get('/agentmux/reactive/agents', { config: { opens: REACTIVE } }, async () =>
    panes.registrations().map((one) => registrationJson(one))
  )
  app.post(
    '/agentmux/reactive/register',
    { config: { opens: REACTIVE }, schema: { body: registration } },
    async (request) => {
      const { agent_id: agent, block_id: block, tab_id: tabId } = request.body
      onlyForItself(request, block)
      const result = await panes.register({
        agent,
        blockId: block,
        ...(tabId === undefined ? {} : { tabId })
      })
      if (result.kind === 'registered') return { success: true }
      if (result.kind === 'refused') throw new HttpError(409, result.refusal.message, { success: false })
      throw new HttpError(404, 'no such pane', { success: false })
    }
  )
  app.post(
    '/agentmux/reactive/unregister',
    { config: { opens: REACTIVE }, schema: { body: withdrawal } },
    async (request) => {
      const { agent_id: agent, block_id: block = request.callerBlockId } = request.body
      onlyForItself(request, block)
      if (request.caller === 'pane' && panes.isMainName(agent, block)) {
        throw new HttpError(403, 'a pane keeps the name that it was opened with', { success: false })
      }
      panes.unregister({ agent, ...(block === '' ? {} : { blockId: block }) })
      return { success: true }
    }
  )
}

function onlyForItself({ caller, callerBlockId }: FastifyRequest, block: string): void {
  if (caller === 'pane' && block !== callerBlockId) {
    throw new HttpError(403, 'this key is of another pane', { success: false })
  }
}

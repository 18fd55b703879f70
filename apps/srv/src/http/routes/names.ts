/** Which names are known here: asked by other instances, by panes, and by other computers, which are not told the UID. */
import * as z from 'zod/mini'
import { type HttpApp, LAN, type Opens, REACTIVE } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { registrationJson } from '../registration-json.js'

const question = z.object({ id: z.optional(z.string()) })

const REACTIVE_AND_LAN: Opens = [...new Set([...REACTIVE, ...LAN])]

export function addNameRoutes(app: HttpApp, { panes }: Pick<HttpPorts, 'panes'>): void {
  app.get('/agentmux/reactive/agent-names', { config: { opens: REACTIVE_AND_LAN } }, async () => ({
    agents: [...new Set(panes.registrations().map(({ agentName }) => agentName))]
  }))
  app.get(
    '/agentmux/reactive/agent',
    { config: { opens: REACTIVE_AND_LAN }, schema: { querystring: question } },
    async (request) => {
      const { id } = request.query
      if (!id) throw new HttpError(400, 'missing id param')
      const found = panes.registrations().find(({ agentName }) => sameName(agentName, id))
      if (found === undefined) throw new HttpError(404, 'agent not found')
      const { uid, ...rest } = registrationJson(found)
      return request.caller === 'lan' ? rest : { ...rest, uid }
    }
  )
}

/** As agents are looked up by the name people type. */
function sameName(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

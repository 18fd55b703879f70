/** All leases of an instance in one request. An agent that cannot be answered for is left out. */
import * as z from 'zod/mini'
import { agentName } from '../../model/agent-key.js'
import { callerIn, mayUse } from '../caller.js'
import type { HttpApp } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpLimits } from '../http-limits.js'
import type { HttpPorts } from '../http-ports.js'
import { claimantFields, claimantIn, heldByJson, refusedError } from '../lease-json.js'

const body = z.object({ agents: z.array(z.string()), ...claimantFields })

export function addRenewBatchRoute(
  app: HttpApp,
  { store: { leases } }: Pick<HttpPorts, 'store'>,
  limits: HttpLimits
): void {
  const route = { config: { opens: 'token' as const }, schema: { body }, bodyLimit: limits.batchBytes }
  app.post('/agents/lease/renew-batch', route, async (request) => {
    const caller = callerIn(request)
    const { agents } = request.body
    if (agents.length > limits.agentsPerBatch) throw new HttpError(413, 'too many agents')
    const asked = askedNames(agents, (agent) => mayUse(caller.token, agent))
    const names = [...asked.keys()]
    const answers = await leases.renew(caller.token.account, names, claimantIn(request.body, caller))
    const results = answers.map((answer, index) => {
      const agent_id = asked.get(names[index] ?? '') ?? ''
      if (answer.kind === 'held') return { agent_id, ok: true, epoch: answer.epoch }
      const heldBy = answer.kind === 'refused' ? answer.heldBy : undefined
      return { agent_id, ok: false, error: refusedError(heldBy), held_by: heldByJson(heldBy) }
    })
    return { results }
  })
}

/** Each agent once, with the name it was asked for by. */
function askedNames(agents: readonly string[], may: (agent: string) => boolean): Map<string, string> {
  const names = new Map<string, string>()
  for (const asked of agents) {
    const agent = agentName(asked)
    if (agent !== undefined && may(agent) && !names.has(agent)) names.set(agent, asked)
  }
  return names
}

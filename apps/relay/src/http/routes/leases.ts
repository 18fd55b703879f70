/** One lease at a time: claim, renew, release, take, look. */
import * as z from 'zod/mini'
import { isSameHolder } from '../../model/holder.js'
import { callerIn, keyFor } from '../caller.js'
import type { HttpApp } from '../http-app.js'
import type { HttpPorts } from '../http-ports.js'
import { claimantIn, heldByJson, heldJson, leaseBody } from '../lease-json.js'

const named = z.object({ agent: z.string() })

export function addLeaseRoutes(app: HttpApp, { store: { leases } }: Pick<HttpPorts, 'store'>): void {
  const route = { config: { opens: 'token' as const }, schema: { body: leaseBody } }

  app.post('/agents/lease', route, async (request) => {
    const caller = callerIn(request)
    const key = keyFor(caller, request.body.agent_id)
    return heldJson(await leases.claim(key, claimantIn(request.body, caller)))
  })

  app.post('/agents/lease/renew', route, async (request) => {
    const caller = callerIn(request)
    const { account, agent } = keyFor(caller, request.body.agent_id)
    const [answer] = await leases.renew(account, [agent], claimantIn(request.body, caller))
    return heldJson(answer ?? { kind: 'refused', heldBy: undefined })
  })

  app.post('/agents/lease/release', route, async (request) => {
    const caller = callerIn(request)
    await leases.release(keyFor(caller, request.body.agent_id), claimantIn(request.body, caller))
    return { ok: true }
  })

  app.post('/agents/lease/take', route, async (request) => {
    const caller = callerIn(request)
    const key = keyFor(caller, request.body.agent_id)
    return heldJson(await leases.take(key, claimantIn(request.body, caller), caller.requestKey))
  })

  const look = { config: { opens: 'token' as const }, schema: { params: named } }
  app.get('/agents/lease/:agent', look, async (request) => {
    const caller = callerIn(request)
    const holder = await leases.look(keyFor(caller, request.params.agent))
    if (holder === undefined) return { state: 'free' }
    const state = isSameHolder(holder, caller) ? 'yours' : 'other'
    return { state, held_by: heldByJson(holder) }
  })
}

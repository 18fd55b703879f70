/** Whether this instance holds an agent: asked by other instances, and by other computers on the network. */
import { type Holding, localHolding, localHoldings } from '@agentmux/host-admission'
import * as z from 'zod/mini'
import { type HttpApp, LAN } from '../http-app.js'
import { HttpError } from '../http-error.js'
import type { HttpPorts } from '../ports.js'
import { askedUid } from '../request-fields.js'

const MAX_UIDS = 1_000

const question = z.object({ uid: z.optional(z.string()) })
const questions = z.object({
  uids: z.array(askedUid).check(z.maxLength(MAX_UIDS))
})

export function addHoldingRoutes(
  app: HttpApp,
  { admission, isYielding = () => false }: Pick<HttpPorts, 'admission' | 'isYielding'>
): void {
  // Said only by whoever is about to yield: then the other one must not.
  const marked = (uid: string, holding: Holding) =>
    holding.held && isYielding(uid) ? { ...holding, yielding: true } : holding

  app.get(
    '/agentmux/agent/holding',
    { config: { opens: LAN }, schema: { querystring: question } },
    async ({ query: { uid } }) => {
      if (!uid?.trim()) throw new HttpError(400, 'uid required')
      return marked(uid, localHolding(uid, admission))
    }
  )
  app.post(
    '/agentmux/agent/holdings',
    { config: { opens: LAN }, schema: { body: questions } },
    async ({ body: { uids } }) => {
      const holdings = Array.from(localHoldings(uids, admission), ([uid, holding]) => [
        uid,
        marked(uid, holding)
      ])
      return { holdings: Object.fromEntries(holdings) }
    }
  )
}

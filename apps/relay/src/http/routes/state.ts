/** What the relay says of itself: that it runs, that its store answers, and its numbers. */
import { METRICS_TYPE } from '../../metrics/metrics.js'
import { StoreUnavailable } from '../../store/store-unavailable.js'
import type { HttpApp } from '../http-app.js'
import type { HttpPorts } from '../http-ports.js'

/** Anyone may ask: the store is not asked more often than this. */
const READY_FOR_MS = 1_000

export function addStateRoutes(app: HttpApp, { store, metrics, clock, version }: HttpPorts): void {
  app.get('/health', { config: { opens: 'anyone' } }, async () => ({ status: 'ok', version }))

  let checkedMs = Number.NEGATIVE_INFINITY
  let isReady: Promise<boolean> = Promise.resolve(false)
  app.get('/ready', { config: { opens: 'anyone' } }, async (_request, reply) => {
    if (clock.bootMs() - checkedMs >= READY_FOR_MS) {
      checkedMs = clock.bootMs()
      isReady = answers(store.check())
    }
    if (await isReady) return { status: 'ready' }
    return reply.code(503).send({ status: 'unavailable', error: 'the store does not answer' })
  })

  let held = 0
  metrics.gauge({ name: 'agentmux_relay_leases_held', help: 'Leases that are held now.' }, () => held)
  app.get('/metrics', { config: { opens: 'this-computer' } }, async (_request, reply) => {
    // Numbers are wanted most of all while the store is away: then the last count stands.
    held = await store.leases.heldCount().catch(() => held)
    return reply.type(METRICS_TYPE).send(metrics.text())
  })
}

async function answers(check: Promise<void>): Promise<boolean> {
  try {
    await check
    return true
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}

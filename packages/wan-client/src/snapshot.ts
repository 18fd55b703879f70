/**
 * What the client remembers, as plain data, so that a test or a restarted process can go on from it. Times are how long
 * ago or how much longer, since no two processes share a clock. Marks are not in it: nothing is under way then.
 */
import { z } from 'zod'
import { newEntry } from './agent-entry.js'
import { agentKey } from './agent-key.js'
import type { RelayState } from './relay-state.js'
import { MAX_BATCH, MISSING_ROUTE_MS, RELAY_TTL_MS } from './relay-timings.js'
import { MAX_PAUSE_MS } from './retry-after.js'
import { ROUTES, type Route } from './route.js'

const ms = z.number().nonnegative()
const holder = z.object({
  place: z.enum(['this-host', 'lan', 'relay']),
  hostname: z.string(),
  channel: z.string(),
  version: z.string(),
  pid: z.number(),
  acquiredAtMs: z.number(),
  epoch: z.number(),
  blockId: z.string()
})
const snapshot = z.object({
  agents: z.array(
    z.object({
      agent: z.string().refine((agent) => agentKey(agent) === agent),
      held: z.boolean(),
      epoch: z.int().nonnegative(),
      confirmedAgoMs: ms,
      maybeHeldForMs: ms.max(RELAY_TTL_MS),
      elsewhere: z.object({ holder, agoMs: ms }).optional()
    })
  ),
  missingRoutes: z.array(
    z.object({
      route: z.enum(Object.keys(ROUTES) as [Route, ...Route[]]),
      forMs: ms.max(MISSING_ROUTE_MS)
    })
  ),
  pausedForMs: ms.max(MAX_PAUSE_MS),
  batchSize: z.int().min(1).max(MAX_BATCH)
})

export type RelaySnapshot = z.output<typeof snapshot>

export function snapshotOf(state: RelayState): RelaySnapshot {
  const nowMs = state.clock.bootMs()
  const left = (untilMs: number) => Math.max(0, untilMs - nowMs)
  const missing = [...state.missingUntilMs].map(([route, untilMs]) => ({ route, forMs: left(untilMs) }))
  return {
    agents: [...state.entries].map(
      ([agent, { held, epoch, confirmedAtMs, maybeHeldUntilMs, elsewhere }]) => ({
        agent,
        held,
        epoch,
        confirmedAgoMs: nowMs - confirmedAtMs,
        maybeHeldForMs: left(maybeHeldUntilMs),
        ...(elsewhere && { elsewhere: { holder: elsewhere.holder, agoMs: nowMs - elsewhere.atMs } })
      })
    ),
    missingRoutes: missing.filter(({ forMs }) => forMs > 0),
    pausedForMs: left(state.pausedUntilMs),
    batchSize: state.batchSize
  }
}

/** @throws TypeError if it is no snapshot. */
export function restoreState(state: RelayState, from: RelaySnapshot): void {
  const parsed = snapshot.safeParse(from)
  if (!parsed.success) {
    const at = parsed.error.issues[0]?.path.join('.') || 'its top'
    throw new TypeError(`this is no snapshot of a relay client: wrong at ${at}`)
  }
  const nowMs = state.clock.bootMs()
  state.entries.clear()
  state.missingUntilMs.clear()
  for (const { agent, held, epoch, confirmedAgoMs, maybeHeldForMs, elsewhere } of parsed.data.agents) {
    state.entries.set(agent, {
      ...newEntry(),
      held,
      epoch,
      confirmedAtMs: nowMs - confirmedAgoMs,
      maybeHeldUntilMs: nowMs + maybeHeldForMs,
      elsewhere: elsewhere && { holder: elsewhere.holder, atMs: nowMs - elsewhere.agoMs },
      touchedMark: state.nextMark(),
      touchedAtMs: nowMs
    })
  }
  for (const { route, forMs } of parsed.data.missingRoutes) state.missingUntilMs.set(route, nowMs + forMs)
  state.pausedUntilMs = nowMs + parsed.data.pausedForMs
  state.batchSize = parsed.data.batchSize
}

/** A steady herd for a while: what it asks over the network, by route, before and after everything runs. */
import type { Violation } from '../world/history.js'
import { carryOut } from './deeds.js'
import { everybodyRuns } from './liveness.js'
import { type Scale, scalePlan, WARM_UP_MS } from './scale-plan.js'
import { type RunParts, Stage } from './stage.js'

export interface Asked {
  readonly violation: Violation | undefined
  readonly events: number
  readonly virtualMs: number
  /** How long requests were counted. */
  readonly countedMs: number
  readonly digest: string
  /** By method and route. */
  readonly before: ReadonlyMap<string, number>
  readonly counted: ReadonlyMap<string, number>
}

const STEP_US = 10_000_000

/** `onProgress` is called every ten virtual seconds; false ends it there, with what was counted until then. */
export function runScale(
  scale: Scale,
  parts: RunParts,
  onProgress: (now: { virtualMs: number; events: number; requests: number }) => boolean
): Asked {
  const plan = scalePlan(scale)
  const stage = new Stage(plan, parts)
  const { world, network } = stage
  world.mostEvents = Number.POSITIVE_INFINITY
  world.history.keeps = false
  for (const seat of stage.seats) world.after(world.random.int(0, 2_000_000), () => stage.start(seat))
  stage.startRelay()
  for (const { atMs, deed } of plan.deeds) world.after(atMs * 1_000, () => carryOut(stage, deed))
  let goesOn = true
  const runUntil = (untilUs: number) => {
    while (world.nowUs < untilUs && goesOn && !world.ended) {
      world.runUntil(Math.min(untilUs, world.nowUs + STEP_US))
      const { events, nowUs } = world
      goesOn = onProgress({ virtualMs: nowUs / 1_000, events, requests: network.requests })
    }
  }
  runUntil(WARM_UP_MS * 1_000)
  const before = new Map(network.requestsTo)
  runUntil(plan.endMs * 1_000)
  if (goesOn && !world.ended) everybodyRuns(stage)
  stage.end()
  const counted = new Map<string, number>()
  for (const [route, count] of network.requestsTo) {
    const since = count - (before.get(route) ?? 0)
    if (since > 0) counted.set(route, since)
  }
  const { history, events, nowUs } = world
  return {
    violation: history.violation,
    events,
    virtualMs: nowUs / 1_000,
    countedMs: Math.max(0, nowUs / 1_000 - WARM_UP_MS),
    digest: history.digest(),
    before,
    counted
  }
}

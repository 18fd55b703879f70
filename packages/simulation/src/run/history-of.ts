/** One history: a stage, the deeds of a plan, until all has healed and settled. The same plan gives the same history. */
import type { History, Violation } from '../world/history.js'
import { carryOut, heal } from './deeds.js'
import { everybodyRuns } from './liveness.js'
import { type MessageCount, messagesArrived } from './message-ends.js'
import type { Plan } from './plan.js'
import { type RunParts, Stage } from './stage.js'

export interface Outcome {
  readonly violation: Violation | undefined
  readonly history: History
  readonly events: number
  readonly virtualMs: number
  /** Requests over the network. */
  readonly requests: number
  /** Undefined where there are none. */
  readonly messages: MessageCount | undefined
  readonly digest: string
}

export function runHistory(plan: Plan, parts: RunParts): Outcome {
  const stage = new Stage(plan, parts)
  const { world, hosts } = stage
  for (const seat of stage.seats) world.after(world.random.int(0, 2_000_000), () => stage.start(seat))
  stage.startRelay()
  for (const host of hosts) stage.senders.start(host)
  if (hosts.length === 1 && plan.alone !== true) {
    for (const host of hosts) for (const name of ['user-a', 'user-b']) stage.startStoreUser(host, name)
  }
  for (const { atMs, deed } of plan.deeds) world.after(atMs * 1_000, () => carryOut(stage, deed))
  world.after(plan.healMs * 1_000, () => heal(stage))
  world.runUntil(plan.endMs * 1_000)
  if (!world.ended && plan.unsettled !== true) everybodyRuns(stage)
  const messages = messagesArrived(stage)
  stage.end()
  const { history, events, nowUs } = world
  const { requests } = stage.network
  return {
    violation: history.violation,
    history,
    events,
    virtualMs: nowUs / 1_000,
    requests,
    messages,
    digest: history.digest()
  }
}

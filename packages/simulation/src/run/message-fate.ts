/** What befalls whoever claims a message, between the claim and the delivery: there a message is lost, or delivered twice. */
import type { Process } from '../kernel/process.js'
import type { MessageCall } from '../rules/message-rules.js'
import type { Random } from '../world/random.js'
import { carryOut } from './deeds.js'
import type { Stage } from './stage.js'

export type Fate =
  | { readonly kind: 'kill'; readonly afterCalls: number; readonly restartMs: number }
  | { readonly kind: 'stop'; readonly forMs: number }
  | { readonly kind: 'cut'; readonly forMs: number }
  | { readonly kind: 'close' }

export function drawFate(random: Random): Fate {
  const forMs = random.chance(0.5) ? random.int(50, 5_000) : random.int(5_000, 45_000)
  return random.pick<Fate>([
    { kind: 'kill', afterCalls: random.int(0, 40), restartMs: random.int(50, 20_000) },
    { kind: 'kill', afterCalls: random.int(0, 8), restartMs: random.int(50, 20_000) },
    { kind: 'stop', forMs },
    { kind: 'cut', forMs },
    { kind: 'close' }
  ])
}

/** At the relay, which has just given messages out. */
export function meetFate(stage: Stage, { call, status, ids, agent, asker }: MessageCall): void {
  if (call !== 'ack' || status !== 200) return
  for (const id of ids) {
    const fate = stage.senders.takeFate(stage.messages.textOf(id))
    if (fate !== undefined) befall(stage, asker as Process, { fate, agent })
  }
}

function befall(stage: Stage, process: Process, { fate, agent }: { fate: Fate; agent: string }): void {
  const slot = stage.seats.findIndex((seat) => seat.process === process)
  const host = stage.hosts.indexOf(process.host)
  if (slot < 0 || stage.healed) return
  if (fate.kind === 'cut') carryOut(stage, { ...fate, host, other: -1 })
  else if (fate.kind === 'close')
    carryOut(stage, { ...fate, slot, agent: Number(agent.replace('agent', '')) })
  else carryOut(stage, { ...fate, slot })
}

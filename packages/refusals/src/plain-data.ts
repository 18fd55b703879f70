/**
 * The data inside a refusal, brought to the form in which it survives JSON unchanged: strings safe to print and no
 * longer than the protocol allows, numbers whole and not negative, unknown written as empty or 0.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { plainText } from './plain-text.js'
import { MAX_PROCESSES } from './refusal.js'
import type { RemainingProcess } from './remaining-process.js'

/** The longest a string may be, in characters. */
export const LENGTHS = Object.freeze({
  name: 128,
  hostname: 253,
  channel: 64,
  version: 64,
  blockId: 128,
  command: 256,
  path: 4_096,
  code: 32,
  message: 4_096
})

/** The UID stays byte for byte what it is: it decides identity (R1). */
export function plainAgent(agent: AgentRef): AgentRef {
  const name = plainText(agent.name, LENGTHS.name)
  return name ? { uid: agent.uid, name } : { uid: agent.uid }
}

export function plainHolder(holder: Holder): Holder {
  return {
    place: holder.place,
    hostname: plainText(holder.hostname, LENGTHS.hostname),
    channel: plainText(holder.channel, LENGTHS.channel),
    version: plainText(holder.version, LENGTHS.version),
    pid: plainNumber(holder.pid),
    acquiredAtMs: plainNumber(holder.acquiredAtMs),
    epoch: plainNumber(holder.epoch),
    blockId: plainText(holder.blockId, LENGTHS.blockId)
  }
}

export function plainProcesses(processes: readonly RemainingProcess[]): RemainingProcess[] {
  return processes.slice(0, MAX_PROCESSES).map(({ pid, command, because }) => ({
    pid: plainNumber(pid),
    command: plainText(command, LENGTHS.command),
    because
  }))
}

/** A whole number from 0 on, rounded up; 0 for whatever is not one. */
export function plainNumber(value: number): number {
  if (!Number.isFinite(value) || value <= 0) return 0
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER)
}

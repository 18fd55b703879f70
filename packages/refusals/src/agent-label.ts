/** How a sentence calls the agent: by its name where it has one, never by its UID, which people do not know. */
import type { AgentRef } from '@agentmux/lease-model'
import { plainText } from './plain-text.js'

const NAME_LENGTH = 64

/** At the start of a sentence. */
export function agentAtStart(agent: AgentRef): string {
  return plainText(agent.name, NAME_LENGTH) || 'This agent'
}

/** Inside a sentence. */
export function agentInside(agent: AgentRef): string {
  return plainText(agent.name, NAME_LENGTH) || 'this agent'
}

/**
 * Which lease, which queue: an account and an agent's name. Pure. The account comes from the token alone, so that no
 * request can name another one.
 */

export interface AgentKey {
  readonly account: string
  /** Trimmed and lower-cased. */
  readonly agent: string
}

/** Characters, after trimming. */
export const MAX_AGENT_LENGTH = 256

/** As names are compared everywhere at the relay. */
export function normalName(name: string): string {
  return name.trim().toLowerCase()
}

/** Undefined for what can be no name: empty, too long, or with a control character in it. */
export function agentName(text: string): string | undefined {
  const name = normalName(text)
  if (name === '' || name.length > MAX_AGENT_LENGTH) return undefined
  return /\p{Cc}/u.test(name) ? undefined : name
}

/** An account has a short, plain name: it becomes part of keys and of log lines. */
export function isAccount(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text)
}

/** One string for both, which no other key has: neither part has a NUL. */
export function keyText({ account, agent }: AgentKey): string {
  return `${account}\0${agent}`
}

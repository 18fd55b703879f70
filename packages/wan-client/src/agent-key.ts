/**
 * The name under which the relay keeps an agent: trimmed and lower-cased, so that every instance means the same one. What
 * cannot travel in a URL path has no key, and the relay is not asked about it.
 */

/** Longer names are not sent: a relay of ours refuses them. UTF-16 units. */
export const MAX_AGENT_KEY_LENGTH = 256

/** Undefined for a name that cannot be sent: empty, too long, with control characters, or read as a folder by URLs. */
export function agentKey(agent: string): string | undefined {
  const key = agent.trim().toLowerCase()
  if (key === '' || key.length > MAX_AGENT_KEY_LENGTH || key === '.' || key === '..') return undefined
  // A lone surrogate cannot be encoded; control characters cannot stand in a header even where they can in a path.
  return /[\p{Cc}\p{Cs}]/u.test(key) ? undefined : key
}

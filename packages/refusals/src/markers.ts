/**
 * The three phrases by which every AgentMux build, older ones included, recognises a single-live-instance refusal
 * in a plain text. They are protocol: a letter changed here breaks what older builds offer to the user.
 */
export const HELD_MARKER = 'is already running in another agentmux instance'
export const TAKEN_OVER_MARKER = 'was taken over by another agentmux instance'
export const LOST_MARKER = 'lost its single-instance lease'

/** Lower-case; a text is a refusal when its lower-cased form contains one of them. */
export const REFUSAL_MARKERS = Object.freeze([HELD_MARKER, TAKEN_OVER_MARKER, LOST_MARKER] as const)

/** One of REFUSAL_MARKERS. */
export type RefusalMarker = (typeof REFUSAL_MARKERS)[number]

/**
 * Whether a text says that another instance has the agent, so that a take-over can be offered. Anything that is not
 * a string is not a refusal. False for a lease I/O refusal: that one means try again.
 */
export function isAdmissionRefusal(text: unknown): boolean {
  if (typeof text !== 'string') return false
  const lowerCased = text.toLowerCase()
  return REFUSAL_MARKERS.some((marker) => lowerCased.includes(marker))
}

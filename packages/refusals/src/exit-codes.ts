/** What a command's exit code says about a refusal. The codes are part of the command line's contract and never change. */
export const EXIT_CODES = Object.freeze({
  /** The command line itself is wrong (EX_USAGE of sysexits.h). */
  usage: 64,
  /** Nobody could say whether the agent is free: an I/O error, or only watching can tell (EX_UNAVAILABLE). */
  couldNotFindOut: 69,
  /** Something else drives the agent; nothing was started (EX_TEMPFAIL). */
  heldElsewhere: 75,
  /** The command ran, and was stopped because its lease was lost. */
  leaseLost: 76,
  /** The time given with `--wait` passed and the agent was still held, as with timeout(1). */
  waitRanOut: 124
} as const)

/** One of EXIT_CODES. */
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

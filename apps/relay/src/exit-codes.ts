/** What an exit code of this program says. The numbers are those of agentmux-srv and of sysexits.h, and never change. */
import { EXIT_CODES } from '@agentmux/refusals'

export const EXIT = Object.freeze({
  ok: 0,
  /** The command line is wrong; the flag is named. */
  usage: EXIT_CODES.usage,
  /** The store, the port or the certificate cannot be used. */
  unavailable: EXIT_CODES.couldNotFindOut,
  /** Our own mistake. */
  internal: 70,
  /** There is no such token. */
  noSuch: EXIT_CODES.heldElsewhere
} as const)

/** A caller's mistake is an error at once, before anything is touched. */
import { LARGEST_EPOCH } from '@agentmux/lease-store'
import type { AcquireOptions, HostAdmissionOptions } from './admission-options.js'

/** More would make a lease file that nobody can read. */
const MAX_TEXT = 1_024

/** @throws RangeError */
export function checkAdmissionOptions({ previousGraceMs }: HostAdmissionOptions): void {
  if (previousGraceMs !== undefined && !(previousGraceMs >= 0)) {
    throw new RangeError(`previousGraceMs must be 0 or more milliseconds, not ${previousGraceMs}`)
  }
}

/** @throws TypeError, RangeError */
export function checkAcquireOptions({ blockId, sessionId, epochFloor }: AcquireOptions): void {
  if (typeof blockId !== 'string') throw new TypeError('blockId must be a string')
  // An empty one stands for any block of its owner: two panes of one process would share an agent.
  checkText('blockId', blockId, 1)
  if (sessionId !== undefined) checkText('sessionId', sessionId, 0)
  if (
    epochFloor !== undefined &&
    !(Number.isInteger(epochFloor) && epochFloor >= 0 && epochFloor < LARGEST_EPOCH)
  ) {
    throw new RangeError(`epochFloor must be a whole number below 2^52, not ${epochFloor}`)
  }
}

function checkText(name: string, text: string, min: number): void {
  if (text.length < min || text.length > MAX_TEXT) {
    throw new RangeError(`${name} must have ${min} to ${MAX_TEXT} characters, not ${text.length}`)
  }
}

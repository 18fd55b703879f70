/** What callers may pass. Their mistakes are a TypeError or a RangeError at once, before any file is touched. */
import { LARGEST_EPOCH } from './epoch-file.js'
import type { ClaimRequest, Driver } from './lease.js'
import { MAX_TEXT_CHARACTERS } from './lease-record.js'

/** @throws TypeError; RangeError. */
export function checkClaim({ blockId, sessionId, epochFloor = 0 }: ClaimRequest): void {
  checkText('blockId', blockId)
  if (sessionId !== undefined) checkText('sessionId', sessionId)
  if (!Number.isInteger(epochFloor) || epochFloor < 0 || epochFloor >= LARGEST_EPOCH) {
    throw new RangeError(`epochFloor must be a whole number below 2^52, not ${epochFloor}`)
  }
}

/** @throws RangeError. */
export function checkDriver(driver: Driver | undefined): void {
  if (driver === undefined) return
  const { pid, startTicks } = driver
  if (!Number.isInteger(pid) || pid < 0 || pid > 0xffffffff) {
    throw new RangeError(`the driver's pid must be a process id or 0, not ${pid}`)
  }
  if (!Number.isSafeInteger(startTicks) || startTicks < 0) {
    throw new RangeError(`the driver's startTicks must be a whole number, not ${startTicks}`)
  }
}

/** @throws RangeError. */
export function checkLockWait(waitMs: number): number {
  if (!(waitMs >= 0 && waitMs <= 3_600_000)) {
    throw new RangeError(`lockWaitMs must be a number from 0 to 3600000, not ${waitMs}`)
  }
  return waitMs
}

function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, not ${typeof value}`)
  if (value.length > MAX_TEXT_CHARACTERS) {
    throw new RangeError(`${name} has ${value.length} characters, the limit is ${MAX_TEXT_CHARACTERS}`)
  }
}

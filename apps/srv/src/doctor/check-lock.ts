/** Whether flock works where the leases are: tried on a file of our own, which is gone afterwards. */
import { closeSync, existsSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseFault, tryFlock } from '@agentmux/lease-store'
import { plainText } from '@agentmux/refusals'
import type { Check } from './check.js'

const name = 'file lock'
const OTHER_FOLDER = 'Choose a local folder with --shared-dir or $AGENTMUX_SHARED_DIR.'

export function checkLock(leases: string): Check {
  if (!existsSync(leases)) {
    return { name, level: 'ok', seen: 'not tried: there is no lease folder yet, and looking makes none' }
  }
  const path = join(leases, `.doctor-${process.pid}.tmp`)
  const descriptors: number[] = []
  try {
    descriptors.push(openSync(path, 'wx', 0o600), openSync(path, 'r+'))
    const [first, second] = descriptors.map((descriptor) => tryFlock(descriptor))
    if (first === true && second === false) return { name, level: 'ok', seen: 'flock locks' }
    const seen = first
      ? 'flock says yes to everybody: it does nothing there'
      : 'flock cannot lock a new file there'
    return { name, level: 'fail', seen, todo: OTHER_FOLDER }
  } catch (error) {
    const message = plainText(error instanceof Error ? error.message : String(error), 500)
    const todo = error instanceof LeaseFault ? undefined : OTHER_FOLDER
    return { name, level: 'fail', seen: message, ...(todo === undefined ? {} : { todo }) }
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
    removeQuietly(path, descriptors.length > 0)
  }
}

function removeQuietly(path: string, isOurs: boolean): void {
  if (!isOurs) return
  try {
    unlinkSync(path)
  } catch {
    // Nothing reads it.
  }
}

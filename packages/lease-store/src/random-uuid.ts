/**
 * Random UUIDs (version 4), no two of them alike. From the kernel where it gives them: loading node:crypto for the few that
 * a process needs takes longer than a whole claim.
 */
import { readFileSync } from 'node:fs'

const KERNEL = '/proc/sys/kernel/random/uuid'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function randomUuid(): string {
  return kernelUuid() ?? process.getBuiltinModule('node:crypto').randomUUID()
}

/** Undefined where the kernel has none to give, and for a file that was mounted over it. */
function kernelUuid(): string | undefined {
  try {
    const uuid = readFileSync(KERNEL, 'latin1').trim()
    return UUID.test(uuid) ? uuid : undefined
  } catch {
    return undefined
  }
}

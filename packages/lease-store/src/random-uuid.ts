/**
 * Random UUIDs (version 4), no two of them alike. A process that needs only a few has them from the kernel: loading
 * node:crypto for them takes longer than a whole claim. One that needs many has the rest from there, where each is cheaper.
 */
import { readFileSync } from 'node:fs'

const KERNEL = '/proc/sys/kernel/random/uuid'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const FEW = 4
/** Of this process, like the module whose loading it puts off. */
let asked = 0

export function randomUuid(): string {
  const uuid = asked++ < FEW ? kernelUuid() : undefined
  return uuid ?? process.getBuiltinModule('node:crypto').randomUUID()
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

/** Which agents are kept for somebody after a hand-over, for whoever looks: reads only, takes no lock, creates nothing (R6). */
import { readdirSync } from 'node:fs'
import { LeaseFault, type LeaseStore } from '@agentmux/lease-store'
import { readHold } from './takeover/hold-file.js'

export interface KeptAgent {
  readonly uid: string
  /** For whom. */
  readonly channel: string
  readonly version: string
  /** For one process of that channel alone. */
  readonly oneProcess: boolean
  /** For how much longer, milliseconds. */
  readonly remainingMs: number
}

const SUFFIX = '.hold'

/** Undefined if it is kept for nobody. @throws TypeError or RangeError for what cannot be a UID. */
export function keptAgent(store: LeaseStore, uid: string): KeptAgent | undefined {
  const hold = readHold(store, uid)
  return (
    hold && {
      uid,
      channel: hold.toChannel,
      version: hold.toVersion,
      oneProcess: hold.toBootId !== '',
      remainingMs: Math.max(0, Math.round(hold.untilBootMs - store.clock.bootMs()))
    }
  )
}

/** All of them, by UID. A folder that does not exist has none. @throws LeaseFault `io`. */
export function keptAgents(store: LeaseStore): KeptAgent[] {
  return namesIn(store.folder)
    .filter((name) => name.endsWith(SUFFIX))
    .sort()
    .flatMap((name) => keptUnderName(store, name.slice(0, -SUFFIX.length)) ?? [])
}

/** What stands in the folder need not be ours. */
function keptUnderName(store: LeaseStore, uid: string): KeptAgent | undefined {
  try {
    return keptAgent(store, uid)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (errno === 'ENOENT') return []
    throw new LeaseFault(`cannot read the folder ${folder}: ${errno}`, {
      code: 'io',
      path: folder,
      errno,
      cause: error
    })
  }
}

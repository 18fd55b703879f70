/**
 * Whether this process was started, however indirectly, by an agent that is being driven: a take-over is for a person,
 * and an agent must not cause one (R5). Told by our ancestors, where one of them holds a lease, and by the marks that
 * panes put into the environment. Who leaves its ancestors and takes off the marks is not found out.
 */
import { readFileSync } from 'node:fs'
import { LeaseFault, type LeaseStore } from '@agentmux/lease-store'

export type Standing =
  | { readonly kind: 'outside' }
  /** `why`: what tells. `sharesTerminal`: the terminal we are on is the pane's own, where a person is. */
  | { readonly kind: 'inside'; readonly why: string; readonly sharesTerminal: boolean }

/** What panes of ours give to what they start. */
const CLAIM = 'AGENTMUX_CLAIM_ID'
/** What panes of every build do. */
const BLOCK = 'AGENTMUX_BLOCKID'
/** A chain that changes while it is walked must not become a circle. */
const MAX_DEPTH = 1_000

export function standing(environment: NodeJS.ProcessEnv, store: LeaseStore): Standing {
  const chain = ancestors()
  const holders = holdersOn(store)
  const holder = chain.filter((pid) => holders.has(pid)).at(-1)
  if (holder !== undefined) {
    const why = `pid ${holder}, which started it, drives an agent`
    return { kind: 'inside', why, sharesTerminal: isOnOurTerminal(holder) }
  }
  const marked = (mark: string) => chain.filter((pid) => hasMark(pid, mark)).at(-1)
  const claimed = hasValue(environment[CLAIM]) ? process.pid : marked(CLAIM)
  if (claimed !== undefined) {
    return { kind: 'inside', why: `pid ${claimed} carries the mark of an agent`, sharesTerminal: false }
  }
  const outermost = marked(BLOCK)
  if (outermost === undefined && !hasValue(environment[BLOCK])) return { kind: 'outside' }
  const pid = outermost ?? process.pid
  // An agent can make a terminal of its own and type on it: only that of the pane itself counts.
  const sharesTerminal = outermost !== undefined && isOnOurTerminal(outermost)
  return { kind: 'inside', why: `pid ${pid} carries the mark of a pane`, sharesTerminal }
}

/** Our parent first. */
function ancestors(): number[] {
  const pids: number[] = []
  for (let pid = process.ppid; pid > 1 && pids.length < MAX_DEPTH; pid = statOf(pid)?.parent ?? 0)
    pids.push(pid)
  return pids
}

/** The processes of this host that hold a lease now. */
function holdersOn(store: LeaseStore): Set<number> {
  try {
    const held = store.list().filter(({ state, holder }) => state === 'held' && holder.place === 'this-host')
    return new Set(held.map(({ holder }) => holder.pid))
  } catch (fault) {
    if (fault instanceof LeaseFault) return new Set()
    throw fault
  }
}

function isOnOurTerminal(pid: number): boolean {
  const terminal = statOf(pid)?.terminal ?? 0
  return terminal !== 0 && terminal === statOf('self')?.terminal
}

function hasMark(pid: number, mark: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return variables.some((variable) => variable.startsWith(`${mark}=`) && variable.length > mark.length + 1)
  } catch {
    // Another user's, or gone.
    return false
  }
}

function hasValue(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** Undefined where it cannot be read. `terminal`: the number of the controlling terminal; 0 for none. */
function statOf(pid: number | 'self'): { parent: number; terminal: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 5)
    return { parent: Number(fields[1]), terminal: Number(fields[4]) }
  } catch {
    return undefined
  }
}

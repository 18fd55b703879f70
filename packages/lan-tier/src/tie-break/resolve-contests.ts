/**
 * Drives contests to their end: one look at everybody for all agents together, then the second looks, those of one slot
 * and one peer in one question. Keeps true that `onAsking` holds for an agent from before its question is sent until
 * `settle` has returned for it: two that are about to yield to each other then see it, and one of them stays.
 */
import type { Clock } from '@agentmux/lease-model'
import type { LanLook, PeerName, SilentPeer } from '../holdings/lan-look.js'
import type { Contender } from './contender.js'
import { Contest, type ContestOutcome, type ContestStep } from './contest.js'
import { SECOND_LOOK_SLOT_MS } from './second-look.js'

/** One agent, asked of some peers, or of all of them. */
export interface Question {
  readonly uid: string
  readonly peers?: readonly PeerName[]
}

/** Asks all of the questions at once; no UID twice. Rejects only with the signal's reason. */
export type Ask = (
  questions: readonly Question[],
  signal: AbortSignal
) => Promise<ReadonlyMap<string, LanLook>>

export interface ContestOptions {
  readonly ask: Ask
  readonly clock: Clock
  readonly signal: AbortSignal
  /** 0 up to 1; Math.random unless given. */
  readonly random?: () => number
  /** The agents that are about to yield, before they ask, and that are no longer (with `false`). */
  readonly onAsking?: (uids: readonly string[], asking: boolean) => void
}

export interface ResolveContestsOptions extends ContestOptions {
  /** What is driven here, by UID. */
  readonly mine: ReadonlyMap<string, Contender>
  /** Called once for each agent, as soon as it is decided; for a yield it has fenced the holder when it returns. */
  readonly settle: (uid: string, outcome: ContestOutcome) => void
}

interface Running {
  readonly uid: string
  readonly contest: Contest
}

type LookAgain = Extract<ContestStep, { kind: 'look-again' }>

/** @throws the signal's reason when aborted: what was not settled by then stays as it is. */
export async function resolveContests(options: ResolveContestsOptions): Promise<void> {
  const { mine, ask, signal, settle, random = Math.random } = options
  signal.throwIfAborted()
  if (mine.size === 0) return
  const looks = await askEverybody(Array.from(mine.keys()), ask, signal)
  const lookingAgain: { running: Running; step: LookAgain }[] = []
  for (const [uid, contender] of mine) {
    const contest = new Contest(contender, random)
    const step = contest.seen(looks.get(uid) ?? UNSEEN)
    if (step.kind === 'done') settle(uid, step.outcome)
    else lookingAgain.push({ running: { uid, contest }, step })
  }
  await Promise.all(inGroups(lookingAgain).map((group) => lookAgain(group, options)))
}

/** The same for one agent. */
export async function resolveContest(
  options: ContestOptions & { readonly uid: string; readonly mine: Contender }
): Promise<ContestOutcome> {
  let outcome: ContestOutcome | undefined
  await resolveContests({
    ...options,
    mine: new Map([[options.uid, options.mine]]),
    settle: (_uid, settled) => {
      outcome = settled
    }
  })
  if (outcome === undefined) throw new Error('a contest ended without an outcome')
  return outcome
}

const UNSEEN: LanLook = Object.freeze({ holders: [], answered: 0, silent: [] })

/** The first look. Who did not answer in time is asked once more: one lost answer is no reason to drive on for long. */
async function askEverybody(
  uids: readonly string[],
  ask: Ask,
  signal: AbortSignal
): Promise<ReadonlyMap<string, LanLook>> {
  const looks = await ask(
    uids.map((uid) => ({ uid })),
    signal
  )
  const again = uids.flatMap((uid) => {
    const late = looks.get(uid)?.silent.filter(isLate) ?? []
    return late.length === 0 ? [] : [{ uid, peers: late.map(({ peer }) => peer) }]
  })
  if (again.length === 0) return looks
  const late = await ask(again, signal)
  return new Map(Array.from(looks, ([uid, look]) => [uid, together(look, late.get(uid))] as const))
}

/** `again`: what those answered who were late in `look`. */
function together(look: LanLook, again: LanLook | undefined): LanLook {
  if (again === undefined) return look
  return {
    holders: [...look.holders, ...again.holders],
    answered: look.answered + again.answered,
    silent: [...look.silent.filter((each) => !isLate(each)), ...again.silent]
  }
}

function isLate({ why }: SilentPeer): boolean {
  return why === 'timed-out' || why === 'broken'
}

interface Group {
  waitMs: number
  readonly steps: { running: Running; step: LookAgain }[]
}

/** One wait for all agents of a slot: a hundred of them are not a hundred questions. */
function inGroups(steps: Group['steps']): Group[] {
  const groups = new Map<number, Group>()
  for (const each of steps) {
    const slot = Math.floor(each.step.waitMs / SECOND_LOOK_SLOT_MS)
    const group = groups.get(slot)
    if (group) group.steps.push(each)
    else groups.set(slot, { waitMs: each.step.waitMs, steps: [each] })
  }
  return [...groups.values()]
}

async function lookAgain(group: Group, options: ResolveContestsOptions): Promise<void> {
  const { ask, clock, signal, settle, onAsking } = options
  let { steps, waitMs } = group
  while (steps.length > 0) {
    await clock.sleep(waitMs, signal)
    const uids = steps.map(({ running }) => running.uid)
    const next: Group['steps'] = []
    onAsking?.(uids, true)
    try {
      const questions = steps.map(({ running: { uid }, step }) => ({ uid, peers: [step.at.peer] }))
      const looks = await ask(questions, signal)
      for (const { running } of steps) {
        const step = running.contest.seenAgain(looks.get(running.uid) ?? UNSEEN)
        if (step.kind === 'done') settle(running.uid, step.outcome)
        else next.push({ running, step })
      }
    } finally {
      onAsking?.(uids, false)
    }
    steps = next
    waitMs = Math.max(0, ...next.map(({ step }) => step.waitMs))
  }
}

/**
 * Renews everything held with one request per MAX_BATCH agents. Leaves out agents that are busy, and ignores what it hears
 * of one that changed meanwhile. A relay without the route is asked agent by agent.
 */
import type { Holder } from '@agentmux/lease-model'
import { type BatchRow, batchRows } from './answers.js'
import { claimOnce, renewLocked } from './claim-lease.js'
import type { BatchAnswer, ElsewhereAnswer, Held } from './lease-answers.js'
import { holderBody, type LeaseContext, type OperationOptions } from './lease-context.js'
import { severalAtOnce } from './several-at-once.js'
import { concernsAll, type Unknown, type UnknownWhy } from './unknown-why.js'

/** Single requests at the same time, so that other work finds a free connection. */
const AT_ONCE = 4
const BYTES_AT_LEAST = 64 * 1024
const BYTES_PER_AGENT = 1024

interface Outcome {
  readonly held: string[]
  readonly elsewhere: { agent: string; holder: Holder }[]
  readonly busy: string[]
  readonly unanswered: { agent: string; why: UnknownWhy }[]
}

export async function renewHeld(
  context: LeaseContext,
  keys: readonly string[],
  options: OperationOptions
): Promise<BatchAnswer> {
  const { locks, state } = context
  const outcome: Outcome = { held: [], elsewhere: [], busy: [], unanswered: [] }
  const asked: string[] = []
  for (const key of keys) {
    if (locks.busy(key)) outcome.busy.push(key)
    else if (state.entries.get(key)?.held === true) asked.push(key)
  }
  for (let from = 0; from < asked.length; ) {
    const chunk = asked.slice(from, from + state.batchSize)
    const why = await renewChunk(context, chunk, { outcome, options })
    if (why === 'http-413' && chunk.length > 1) {
      state.batchSize = Math.ceil(chunk.length / 2)
      continue
    }
    from += chunk.length
    if (why === undefined) continue
    // Where each agent has a token of its own, none is good for a batch.
    if (why === 'route-missing' || why === 'forbidden') {
      await renewSingly(context, chunk, { outcome, options })
      continue
    }
    leaveUnanswered(chunk, why, outcome)
    if (!concernsAll(why)) continue
    leaveUnanswered(asked.slice(from), why, outcome)
    break
  }
  return outcome
}

interface Work {
  readonly outcome: Outcome
  readonly options: OperationOptions
}

function leaveUnanswered(keys: readonly string[], why: UnknownWhy, { unanswered }: Outcome): void {
  for (const agent of keys) unanswered.push({ agent, why })
}

/** Why nothing is known of the whole chunk; undefined if the relay answered. */
async function renewChunk(
  context: LeaseContext,
  chunk: readonly string[],
  { outcome, options }: Work
): Promise<UnknownWhy | undefined> {
  const { state, calls, clock, identity } = context
  const mark = state.nextMark()
  const atMs = clock.bootMs()
  const [first = ''] = chunk
  const answer = await calls.call('renew-batch', {
    agent: first,
    body: { ...holderBody(identity), agents: chunk },
    maxBytes: BYTES_AT_LEAST + chunk.length * BYTES_PER_AGENT,
    signal: options.signal
  })
  if (answer.kind === 'unknown') return answer.why
  const rows = answer.status === 409 ? undefined : batchRows(answer.body)
  if (rows === undefined) return calls.trouble('renew-batch', {}, 'bad-answer').why
  const rowOf = new Map(rows.map((row) => [row.key, row]))
  const lapsed: string[] = []
  for (const key of chunk) {
    // Whatever happened to the agent since the request began is newer than this answer.
    if ((state.entries.get(key)?.touchedMark ?? 0) > mark) continue
    const row = rowOf.get(key)
    if (row === undefined) outcome.unanswered.push({ agent: key, why: 'bad-answer' })
    else if (row.kind === 'nobody') lapsed.push(key)
    else note(context, row, { mark, atMs, outcome })
  }
  await severalAtOnce(lapsed, AT_ONCE, (key) => claimAgain(context, key, { outcome, options }))
  // Those that were not reached any more are claimed by the next tick.
  return undefined
}

function note(
  { state }: LeaseContext,
  row: Exclude<BatchRow, { kind: 'nobody' }>,
  { mark, atMs, outcome }: { mark: number; atMs: number; outcome: Outcome }
): void {
  if (row.kind === 'held') {
    if (state.confirm(row.key, { mark, atMs, epoch: row.epoch })) outcome.held.push(row.key)
  } else if (state.noteElsewhere(row.key, mark, row.holder)) {
    outcome.elsewhere.push({ agent: row.key, holder: row.holder })
  }
}

/** Nobody holds it: ours lapsed. Claimed again if it is still wanted. */
async function claimAgain(
  context: LeaseContext,
  key: string,
  { outcome, options }: Work
): Promise<'stop' | undefined> {
  const { locks, state, isSubscribed } = context
  if (locks.busy(key)) return undefined
  return locks.run(
    key,
    async () => {
      state.noteNotHeld(key)
      if (isSubscribed?.(key) === false) return undefined
      return sort(key, await claimOnce(context, key, options), outcome)
    },
    options.signal
  )
}

async function renewSingly(
  context: LeaseContext,
  chunk: readonly string[],
  { outcome, options }: Work
): Promise<void> {
  const { locks, state, isSubscribed } = context
  let why: UnknownWhy = 'closed'
  const left = await severalAtOnce(chunk, AT_ONCE, async (key) => {
    if (locks.busy(key)) {
      outcome.busy.push(key)
      return undefined
    }
    return locks.run(
      key,
      async () => {
        if (state.entries.get(key)?.held !== true) return undefined
        let renewed = await renewLocked(context, key, options)
        if (renewed.kind === 'nobody') {
          if (isSubscribed?.(key) === false) return undefined
          renewed = await claimOnce(context, key, options)
        }
        if (renewed.kind === 'unknown') why = renewed.why
        return sort(key, renewed, outcome)
      },
      options.signal
    )
  })
  leaveUnanswered(left, why, outcome)
}

/** `stop` if the relay would not answer for the others either. */
function sort(agent: string, answer: Held | ElsewhereAnswer | Unknown, outcome: Outcome): 'stop' | undefined {
  if (answer.kind === 'held') outcome.held.push(agent)
  else if (answer.kind === 'held-elsewhere') outcome.elsewhere.push({ agent, holder: answer.holder })
  else {
    outcome.unanswered.push({ agent, why: answer.why })
    if (concernsAll(answer.why)) return 'stop'
  }
  return undefined
}

/** Claims and renews the lease of one agent. Both change what is known only by a definite answer. */
import { grantedEpoch, refusedBy } from './answers.js'
import type { ElsewhereAnswer, EnsureAnswer, Held, TakeOverAnswer } from './lease-answers.js'
import { holderBody, type LeaseContext, type OperationOptions } from './lease-context.js'
import type { CallAnswer } from './relay-calls.js'
import { RENEW_EVERY_MS } from './relay-timings.js'
import { type Unknown, type UnknownWhy, unknown } from './unknown-why.js'

type OneAnswer = Held | ElsewhereAnswer | { readonly kind: 'nobody' } | Unknown

/** Holds it already, renewed lately: nothing is sent. Holds it: renews, and claims again if nobody holds it. Else claims. */
export function ensureLease(
  context: LeaseContext,
  key: string,
  { signal }: OperationOptions
): Promise<EnsureAnswer> {
  const { locks, state, clock, isSubscribed } = context
  return locks.run(
    key,
    async () => {
      // Whoever had to wait for the lock may have been overtaken by the end of the pane.
      if (isSubscribed?.(key) === false) return { kind: 'unsubscribed' }
      const entry = state.entry(key)
      if (!entry.held) return claimOnce(context, key, { signal })
      if (clock.bootMs() - entry.confirmedAtMs < RENEW_EVERY_MS) return { kind: 'held', epoch: entry.epoch }
      const renewed = await renewLocked(context, key, { signal })
      if (renewed.kind !== 'nobody') return renewed
      if (isSubscribed?.(key) === false) return { kind: 'unsubscribed' }
      return claimOnce(context, key, { signal })
    },
    signal
  )
}

/** Only under the agent's lock. A relay without the route is asked by claiming, which is the same for the holder. */
export async function renewLocked(
  context: LeaseContext,
  key: string,
  options: OperationOptions
): Promise<OneAnswer> {
  const renewed = await ask(context, 'renew', key, options)
  if (renewed.kind === 'nobody') context.state.noteNotHeld(key)
  if (renewed.kind !== 'unknown' || renewed.why !== 'route-missing') return renewed
  return ask(context, 'claim', key, options)
}

/** Only under the agent's lock. */
export async function claimOnce(
  context: LeaseContext,
  key: string,
  options: OperationOptions
): Promise<TakeOverAnswer> {
  return definite(await ask(context, 'claim', key, options))
}

/** Nobody to take it from, or a relay that cannot take: it is claimed. Once the old holder has let go, that is enough. */
export function takeLease(
  context: LeaseContext,
  key: string,
  options: OperationOptions
): Promise<TakeOverAnswer> {
  return context.locks.run(
    key,
    async () => {
      context.state.clearElsewhere(key)
      const taken = await ask(context, 'take', key, options)
      const claims = taken.kind === 'nobody' || (taken.kind === 'unknown' && taken.why === 'route-missing')
      return claims ? claimOnce(context, key, options) : definite(taken)
    },
    options.signal
  )
}

/** "Nobody holds it" is no answer to whoever asks for it. */
function definite(answer: OneAnswer): TakeOverAnswer {
  return answer.kind === 'nobody' ? unknown('bad-answer') : answer
}

async function ask(
  context: LeaseContext,
  route: 'claim' | 'renew' | 'take',
  key: string,
  { signal }: OperationOptions
): Promise<OneAnswer> {
  const { state, calls, clock, identity } = context
  const mark = state.begin(key)
  const atMs = clock.bootMs()
  const body = { agent_id: key, ...holderBody(identity) }
  let answer: CallAnswer
  try {
    answer = await calls.call(route, { agent: key, body, signal })
  } catch (reason) {
    state.noteMaybeHeld(key)
    throw reason
  }
  if (answer.kind === 'unknown') {
    // The relay may have granted it all the same.
    if (!NOT_SENT.has(answer.why)) state.noteMaybeHeld(key)
    return answer
  }
  const told = answer.status === 409 ? refusedBy(answer.body) : grantOf(answer.body)
  if (told === undefined) return calls.trouble(route, { agent: key }, 'bad-answer')
  if (told.kind === 'nobody') return told
  if (told.kind === 'held') {
    if (state.confirm(key, { mark, atMs, epoch: told.epoch })) return told
    const holder = state.elsewhere(key)
    return holder === undefined ? unknown('changed-meanwhile') : { kind: 'held-elsewhere', holder }
  }
  const { holder } = told
  return state.noteElsewhere(key, mark, holder)
    ? { kind: 'held-elsewhere', holder }
    : unknown('changed-meanwhile')
}

/** After these the relay has nothing of ours that it had not before. */
const NOT_SENT: ReadonlySet<UnknownWhy> = new Set([
  'no-token',
  'token-failed',
  'unreachable',
  'unauthorized',
  'route-missing',
  'paused'
])

function grantOf(body: unknown): Held | undefined {
  const epoch = grantedEpoch(body)
  return epoch === undefined ? undefined : { kind: 'held', epoch }
}

/** Who holds an agent, asked from the relay without changing anything. An answer is good for HOLDER_GOOD_FOR_MS. */
import { holderStateOf } from './answers.js'
import type { HolderAnswer } from './holder-answer.js'
import type { LeaseContext, OperationOptions } from './lease-context.js'
import { HOLDER_GOOD_FOR_MS } from './relay-timings.js'
import { unknown } from './unknown-why.js'

/** Not reaching the relay is never remembered: the next call asks again. */
export async function queryHolder(
  { state, calls, clock }: LeaseContext,
  key: string,
  { signal }: OperationOptions
): Promise<HolderAnswer> {
  const known = state.entries.get(key)?.asked
  if (known !== undefined && clock.bootMs() - known.atMs < HOLDER_GOOD_FOR_MS) return known.answer
  const mark = state.nextMark()
  const answer = await calls.call('holder', { agent: key, signal })
  if (answer.kind === 'unknown') return answer
  const said = answer.status === 409 ? undefined : holderStateOf(answer.body)
  if (said === undefined) return calls.trouble('holder', { agent: key }, 'bad-answer')
  const holder = said.kind === 'relay-cannot-tell' ? unknown(said.kind) : said
  const entry = state.entry(key)
  // Not if the lease changed hands while the answer was under way: what is true now is another matter.
  if (entry.touchedMark <= mark) entry.asked = { answer: holder, atMs: clock.bootMs() }
  return holder
}

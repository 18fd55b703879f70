/**
 * The relay's step of a take-over on the command line, through the daemon of the channel: what was freed on this computer may
 * still be held at the relay, by the same computer or by another one (R5).
 */
import type { AgentRef } from '@agentmux/lease-model'
import { plainText } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { DaemonClient } from '../client/daemon-client.js'
import { lookForDaemon } from '../daemon/daemon-file.js'

export type FreedAtRelay =
  /** Nothing stands in the way. */
  | { readonly kind: 'free' }
  /** Somebody else has it there. `message`: for people. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The relay did not say, or could not be asked (R7, R8). `message`: for people. */
  | { readonly kind: 'not-known'; readonly message: string }

export interface FreeAtRelayOptions {
  readonly sharedRoot: string
  readonly channel: string
  /** Who let go on this computer. */
  readonly fromChannel?: string | undefined
  readonly signal: AbortSignal
}

/** Two requests of the daemon, of 10 s each. */
const TIMEOUT_MS = 25_000
const answer = z.object({ relay: z.string(), why: z.catch(z.string(), '') })

/** @throws the signal's reason when aborted. */
export async function freeAtRelay(
  { uid, name }: AgentRef,
  { sharedRoot, channel, fromChannel, signal }: FreeAtRelayOptions
): Promise<FreedAtRelay> {
  const look = lookForDaemon(sharedRoot, channel)
  if (name === undefined || look.kind !== 'found') return { kind: 'free' }
  const client = new DaemonClient(look.daemon, 'the daemon does not listen any more')
  const said = await client.ask({
    method: 'POST',
    path: '/api/v1/relay/take-over',
    body: { uid, agent: name, ...(fromChannel === undefined ? {} : { from_channel: fromChannel }) },
    signal,
    timeoutMs: TIMEOUT_MS
  })
  if (said.kind === 'no-answer') return notKnown(said.message)
  if (said.status === 409) return { kind: 'refused', message: plainText(said.body.error, 1_000) }
  const result = said.status === 200 ? answer.safeParse(said.body) : undefined
  if (!result?.success) return notKnown(`the daemon answered ${said.status}`)
  return result.data.relay === 'unknown' ? notKnown(result.data.why) : { kind: 'free' }
}

function notKnown(why: string): FreedAtRelay {
  const because = plainText(why, 300)
  return {
    kind: 'not-known',
    message: `it is not known whether another computer holds it at the relay (${because})`
  }
}

/** Bodies and answers of the lease routes. What one instance says of itself is made fit for the terminal of another. */
import { plainText } from '@agentmux/refusals'
import * as z from 'zod/mini'
import { agentName, normalName } from '../model/agent-key.js'
import type { Claimant, Holder } from '../model/holder.js'
import type { LeaseAnswer } from '../store/relay-store.js'
import { type Caller, installName, instanceName } from './caller.js'
import { HttpError } from './http-error.js'

const MAX_TEXT = 1_024
const MAX_HOST = 253
const MAX_NAME = 64

const text = z.string().check(z.maxLength(MAX_TEXT))
const optionalText = z._default(z.nullish(text), '')

export const claimantFields = {
  instance: text.check(z.refine((value) => instanceName(value) !== '', { error: 'is invalid' })),
  install: optionalText,
  host: optionalText,
  channel: optionalText,
  version: optionalText
}

export const agentId = z
  .string()
  .check(z.refine((value) => agentName(value) !== undefined, { error: 'is invalid' }))

export const leaseBody = z.object({ agent_id: agentId, ...claimantFields })

interface ClaimantBody {
  readonly instance: string
  readonly install?: string | null | undefined
  readonly host?: string | null | undefined
  readonly channel?: string | null | undefined
  readonly version?: string | null | undefined
}

/** The install may come in the body or in its header. */
export function claimantIn(body: ClaimantBody, caller: Caller): Claimant {
  return {
    instance: instanceName(body.instance),
    install: installName(body.install ?? '') || caller.install,
    host: normalName(plainText(body.host, MAX_HOST)),
    channel: plainText(body.channel, MAX_NAME),
    version: plainText(body.version, MAX_NAME)
  }
}

export interface HeldByJson {
  readonly host: string
  readonly channel: string
  readonly version: string
  readonly acquired_at: number
}

export function heldByJson(holder: Holder | undefined): HeldByJson | null {
  if (holder === undefined) return null
  const { host, channel, version, acquiredAtMs } = holder
  return { host, channel, version, acquired_at: acquiredAtMs }
}

/** @throws HttpError 409 where it is not held by whoever asked */
export function heldJson(answer: LeaseAnswer): { ok: true; epoch: number } {
  if (answer.kind === 'held') return { ok: true, epoch: answer.epoch }
  if (answer.kind === 'full') throw new HttpError(507, 'too_many_agents')
  throw new HttpError(409, refusedError(answer.heldBy), { fields: { held_by: heldByJson(answer.heldBy) } })
}

export function refusedError(heldBy: Holder | undefined): 'held_by_other' | 'not_holder' {
  return heldBy === undefined ? 'not_holder' : 'held_by_other'
}

export function notHolder(heldBy: Holder | undefined): HttpError {
  return new HttpError(409, 'not_holder', { fields: { held_by: heldByJson(heldBy) } })
}

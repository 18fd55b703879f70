/** The fields that several requests have. */
import { leaseKey } from '@agentmux/lease-store'
import * as z from 'zod/mini'
import { nameProblem } from '../agent-name.js'

const MAX_NAME_LENGTH = 256
const MAX_UID_LENGTH = 1_024

/** An agent's UID, as a lease can be kept under it. */
export const uid = z.string().check(z.minLength(1), z.refine(isLeaseKey, { error: 'cannot be an agent UID' }))

/** The same from another instance, as it was typed there. */
export const typedUid = z
  .string()
  .check(z.trim(), z.minLength(1), z.refine(isLeaseKey, { error: 'cannot be an agent UID' }))

/** A UID that another instance asks about, as it was typed there: it need not be one of ours, and is compared loosely. */
export const askedUid = z.string().check(z.minLength(1), z.maxLength(MAX_UID_LENGTH))

/** What people call something. */
export const name = z.string().check(z.maxLength(MAX_NAME_LENGTH))

/** What an agent is called. */
export const agentName = z
  .string()
  .check(
    z.refine((text) => nameProblem(text) === undefined, { error: ({ input }) => nameProblem(String(input)) })
  )

/** The id of a pane. */
export const blockId = z.string().check(z.minLength(1), z.maxLength(MAX_NAME_LENGTH))

function isLeaseKey(uid: string): boolean {
  try {
    leaseKey(uid)
    return true
  } catch {
    return false
  }
}

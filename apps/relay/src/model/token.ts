/**
 * Access tokens: 32 random bytes, shown once. Only their SHA-256 is kept, which is enough for a secret that cannot be
 * guessed, and useless to whoever reads the store (R16).
 */
import { createHash, randomBytes } from 'node:crypto'

export interface Token {
  /** Names it to people and in log lines; opens nothing. */
  readonly id: string
  readonly account: string
  /** The one agent it speaks for; empty: all of the account. */
  readonly agent: string
  /** Unix milliseconds. */
  readonly createdAtMs: number
  readonly expiresAtMs: number | undefined
}

const PREFIX = 'amx_'
const SECRET_BYTES = 32
const ID_BYTES = 6

export function newTokenSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
}

export function newTokenId(): string {
  return randomBytes(ID_BYTES).toString('hex')
}

export function tokenHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** By the wall clock, as the person who set it meant it. */
export function isExpired({ expiresAtMs }: Token, wallMs: number): boolean {
  return expiresAtMs !== undefined && wallMs >= expiresAtMs
}

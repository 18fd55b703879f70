/**
 * The signature of an answer, over the asker's nonce, the path and the exact body: whoever does not know the secret can
 * neither make an answer nor use an old one. It does not say which computer answered, and hides nothing.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { LanSecret } from './lan-secret.js'

export const NONCE_HEADER = 'x-agentmux-nonce'
export const SIGNATURE_HEADER = 'x-agentmux-signature'

const NONCE = /^[0-9a-f]{32}$/i
const SIGNATURE = /^[0-9a-f]{64}$/i

export interface SignedAnswer {
  /** As it stood in the request header. */
  readonly nonce: string
  /** With the query, as it stood in the request line. */
  readonly path: string
  /** The exact bytes. */
  readonly body: string | Uint8Array
}

/** 16 random bytes in hex; a new one for every request. */
export function freshNonce(): string {
  return randomBytes(16).toString('hex')
}

/** What to send as SIGNATURE_HEADER; undefined for a nonce that is none, whose answer stays unsigned. */
export function signAnswer(secret: LanSecret, answer: SignedAnswer): string | undefined {
  return NONCE.test(answer.nonce) ? digestOf(secret, answer).toString('hex') : undefined
}

/** Takes the same time for every signature of the right form. */
export function verifyAnswer(secret: LanSecret, answer: SignedAnswer, signature: unknown): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature) || !NONCE.test(answer.nonce)) return false
  return timingSafeEqual(digestOf(secret, answer), Buffer.from(signature, 'hex'))
}

function digestOf(secret: LanSecret, { nonce, path, body }: SignedAnswer): Buffer {
  return secret.hmac([`${nonce}\n${path}\n`, body])
}

/** The secret that the computers of one network share. It is never printed, compared or sent; only signatures made with it are. */
import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'

/** Shorter ones can be guessed from a single signed answer. */
export const MIN_LAN_SECRET_BYTES = 16

export class LanSecret {
  readonly #key: Buffer

  /**
   * Byte for byte as given: whoever reads it from a file takes off the line break.
   *
   * @throws TypeError if it is no string; RangeError if it has fewer than 16 bytes. Neither says what it is (R16).
   */
  constructor(secret: string) {
    if (typeof secret !== 'string') throw new TypeError('a LAN secret must be a string')
    this.#key = Buffer.from(secret)
    if (this.#key.length < MIN_LAN_SECRET_BYTES) {
      throw new RangeError(`a LAN secret must have at least ${MIN_LAN_SECRET_BYTES} bytes`)
    }
  }

  hmac(parts: readonly (string | Uint8Array)[]): Buffer {
    const hmac = createHmac('sha256', this.#key)
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }

  toJSON(): string {
    return '[LAN secret]'
  }

  [inspect.custom](): string {
    return '[LAN secret]'
  }
}

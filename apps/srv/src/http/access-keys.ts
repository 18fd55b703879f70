/**
 * Which key a request presents, and so what it may open. Keys are compared by their digests, in constant time, and never
 * leave this object (R16). An empty key opens nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { PaneView } from '../panes/pane-answers.js'

/**
 * - `full`: everything on loopback
 * - `pane`: the reactive routes
 * - `lan`: what another computer may ask
 */
export type KeyClass = 'full' | 'pane' | 'lan'

/** Who asks. `anyone` presented no key, or one that is none of ours. */
export type Caller = KeyClass | 'anyone'

export interface IdentifiedCaller {
  readonly caller: Caller
  /** Of a pane: its block. */
  readonly blockId?: string
}

export interface AccessKeysOptions {
  /** Without one, nobody is let in with it. */
  readonly full?: string
  readonly lan?: string | undefined
  /** The live pane whose own key this is, in constant time. */
  readonly paneOfKey?: (presented: string) => PaneView | undefined
}

/** What may stand in a header. */
const KEY = /^[\x21-\x7e]{1,256}$/

export class AccessKeys {
  readonly #full: Buffer | undefined
  readonly #lan: Buffer | undefined
  readonly #paneOfKey: AccessKeysOptions['paneOfKey']

  /** @throws TypeError for a key that no request could present. */
  constructor({ full, lan, paneOfKey }: AccessKeysOptions) {
    if (full !== undefined && !KEY.test(full))
      throw new TypeError('the key must be 1 to 256 printable ASCII characters')
    if (lan !== undefined && !KEY.test(lan)) throw new TypeError('the LAN key is none')
    if (lan !== undefined && lan === full) throw new TypeError('the LAN key must not be the full key')
    this.#full = full === undefined ? undefined : digest(full)
    this.#lan = lan === undefined ? undefined : digest(lan)
    this.#paneOfKey = paneOfKey
  }

  callerOf(presented: string | string[] | undefined): IdentifiedCaller {
    if (typeof presented !== 'string' || !KEY.test(presented)) return { caller: 'anyone' }
    const shown = digest(presented)
    if (this.#full !== undefined && timingSafeEqual(shown, this.#full)) return { caller: 'full' }
    if (this.#lan !== undefined && timingSafeEqual(shown, this.#lan)) return { caller: 'lan' }
    const pane = this.#paneOfKey?.(presented)
    return pane === undefined ? { caller: 'anyone' } : { caller: 'pane', blockId: pane.blockId }
  }
}

/** Of one length whatever was presented, as the comparison needs it. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/**
 * The keys of the live panes: what a child may present to us, which opens the reactive routes and nothing else. Looked up
 * by a keyed hash, so that the time it takes tells nothing about any key.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export class PaneKeys {
  readonly #salt = randomBytes(32)
  readonly #blocks = new Map<string, string>()

  /** A new key for a block, valid until `revoke`. */
  issue(blockId: string): PaneKey {
    const key = randomBytes(32).toString('hex')
    const hash = this.#hash(key)
    const name = hash.toString('hex')
    this.#blocks.set(name, blockId)
    return { key, revoke: () => void this.#blocks.delete(name) }
  }

  /** The block whose key this is. */
  blockOf(presented: string): string | undefined {
    const hash = this.#hash(presented)
    const name = hash.toString('hex')
    const blockId = this.#blocks.get(name)
    // Whoever presents it does not know the salt, so which bucket was looked in says nothing.
    return blockId !== undefined && timingSafeEqual(Buffer.from(name, 'hex'), hash) ? blockId : undefined
  }

  #hash(key: string): Buffer {
    return createHmac('sha256', this.#salt).update(key).digest()
  }
}

export interface PaneKey {
  readonly key: string
  revoke(): void
}

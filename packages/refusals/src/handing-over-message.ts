/** What another instance is answered, for the person behind it, that asks for an agent which goes to somebody else already. */
import { plainText } from './plain-text.js'

const CHANNEL_LENGTH = 64

/** A part of a sentence, as the holder's words are quoted. `channel`: empty if unknown. */
export function handingOverMessage(channel: string): string {
  const name = plainText(channel, CHANNEL_LENGTH)
  return `it is being handed over to ${name === '' ? 'another instance' : `channel ${name}`} already`
}

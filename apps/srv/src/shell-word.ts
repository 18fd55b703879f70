/** A path in a command line for people: as it stands where a shell takes it so, quoted otherwise. */
import { plainText } from '@agentmux/refusals'

const MAX_LENGTH = 512

export function shellWord(path: string): string {
  const shown = plainText(path, MAX_LENGTH)
  return /^[\w./@:+-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}

/** For whom an agent is kept, and how much longer: the same words in `status` and `who`. */
import type { KeptAgent } from '@agentmux/host-admission'
import { plainText, remainingText } from '@agentmux/refusals'

export function keptForText({ channel, version, oneProcess, remainingMs }: KeptAgent): string {
  const whose = [`channel ${plainText(channel, 32)}`, version === '' ? '' : `v${plainText(version, 32)}`]
  const named = whose.filter((part) => part !== '').join(', ')
  return `for ${oneProcess ? 'one process of ' : ''}${named}, for ${remainingText(remainingMs)} more`
}

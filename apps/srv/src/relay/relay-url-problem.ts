/** What is wrong with the address of a relay, for people; undefined if it can be used. */
import { parseRelayUrl } from '@agentmux/wan-client'

export function relayUrlProblem(url: string): string | undefined {
  try {
    parseRelayUrl(url)
    return undefined
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault)
  }
}

/** Says once, loudly, that the shared folder is on a file system that is not to be trusted. */
import { doubtsAbout } from '@agentmux/lease-store'
import { doubtfulFolderWarning } from '@agentmux/refusals'
import { say } from './output.js'

/** What is doubtful, as a noun phrase; empty if nothing is, or the folder is not there. */
export function warnOfFolder(sharedRoot: string): string {
  const doubts = doubtsAbout(sharedRoot) ?? ''
  if (doubts !== '') say(doubtfulFolderWarning(sharedRoot, doubts))
  return doubts
}

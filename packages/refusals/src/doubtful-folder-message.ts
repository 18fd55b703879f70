/** What a person has to know who keeps the leases on a file system that is not to be trusted with them. No markers. */
import { plainText } from './plain-text.js'

const PATH_LENGTH = 300

/** Once, by whoever holds agents there. `what`: the file system, as lease-store names it. */
export function doubtfulFolderWarning(folder: string, what: string): string {
  return `WARNING: the shared folder ${plainText(folder, PATH_LENGTH)} is on ${plainText(what, PATH_LENGTH)}, where two computers may see different contents at the same moment. Leases are given and honoured there, but judged only by watching them: after a crash an agent is free only once its lease has stood still for 15 s. Choose a folder on a local disk with --shared-dir or $AGENTMUX_SHARED_DIR.`
}

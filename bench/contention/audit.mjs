/** Judges what the holders appended: no two turns at once, no epoch twice, epochs only growing. */
import { readFileSync } from 'node:fs'

/** Lines are `begin EPOCH CLAIM` and `end EPOCH CLAIM`, in the order in which they were written. */
export function auditTurns(path) {
  const lines = readFileSync(path, 'latin1').split('\n').filter(Boolean)
  const problems = []
  let open
  let highest = 0
  let turns = 0
  for (const line of lines) {
    const [what, epochText, claim] = line.split(' ')
    const epoch = Number(epochText)
    if (what === 'begin') {
      if (open !== undefined) problems.push(`epoch ${epoch} begins while ${open.epoch} has not ended`)
      if (epoch <= highest) problems.push(`epoch ${epoch} comes after ${highest}`)
      highest = Math.max(highest, epoch)
      open = { epoch, claim }
      turns += 1
    } else if (what === 'end' && open?.epoch === epoch && open.claim === claim) {
      open = undefined
    } else {
      problems.push(`unexpected line: ${line}`)
    }
  }
  if (open !== undefined) problems.push(`epoch ${open.epoch} never ends`)
  return { turns, highest, problems }
}

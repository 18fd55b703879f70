/** R5 from outside: nothing but a person opens, takes or moves an agent; least of all a message for it. */
import type { Process } from '../kernel/process.js'
import type { Seat } from './daemon-seat.js'
import type { Stage } from './stage.js'

export function onlyWhatPeopleAskedFor(stage: Stage, process: Process, uid: string): void {
  const seat = stage.seats.find((each) => each.process === process)
  if (seat === undefined || seat.asked.has(uid)) return
  stage.world.history.violate('R5', `${process.label} claims ${uid}, which nobody asked for there`)
}

/** At the relay: by whom, as it tells holders apart, an agent was claimed, renewed or taken. */
export function movesOnlyForPeople(
  stage: Stage,
  { call, agent, holder }: { call: string; agent: string; holder: string }
): void {
  const seat = seatOfHolder(stage, holder)
  if (seat === undefined) return
  const { history } = stage.world
  const who = seat.process?.label ?? holder
  if (call === 'take' && !seat.taken.has(agent))
    history.violate('R5', `${who} takes ${agent} at the relay, and no person has asked for it`)
  if ((call === 'claim' || call.startsWith('renew')) && !seat.asked.has(agent))
    history.violate('R5', `${who} claims ${agent} at the relay, which nobody asked for there`)
}

/** The last part of a holder is its install, which counts the seats from one. */
function seatOfHolder(stage: Stage, holder: string): Seat | undefined {
  const install = /([0-9a-f]{12})$/.exec(holder)?.[1]
  return install === undefined ? undefined : stage.seats[Number.parseInt(install, 16) - 1]
}

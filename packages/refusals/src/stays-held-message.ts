/**
 * Why an agent that is being given up stays held after all: what of it would not end, by pid and command. Read by the person
 * at the holder, and quoted to the one who asked for the agent.
 */
import { pidText } from './pid-text.js'
import { plainText } from './plain-text.js'

const NAMED = 5
const COMMAND_LENGTH = 60

/** `processes`: those that did not end; none if it could not be given back for another reason. A part of a sentence. */
export function staysHeldMessage(
  processes: readonly { readonly pid: number; readonly command: string }[]
): string {
  const why =
    processes.length === 0
      ? 'as it could not be given back'
      : `because these did not end: ${named(processes)}`
  return `the agent stays held until its lease runs out, ${why}`
}

function named(processes: readonly { readonly pid: number; readonly command: string }[]): string {
  const shown = processes.slice(0, NAMED).map(({ pid, command }) => {
    const text = plainText(command, COMMAND_LENGTH)
    return text === '' ? pidText(pid) : `${pidText(pid)} (${text})`
  })
  const more = processes.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/**
 * `follow`: the record of the agent in a pane, as it grows. Read-only, also of a pane that has ended or was superseded. Ends
 * with the pane, the daemon or a signal.
 */
import { isatty } from 'node:tty'
import { EXIT_CODES, plainText } from '@agentmux/refusals'
import type { CommonFlags } from '../compose.js'
import { print, say, writeOut } from '../output.js'
import { panePath } from './pane-path.js'
import { reportAnswer } from './report-answer.js'
import { withDaemon } from './with-daemon.js'

export interface FollowFlags extends CommonFlags {
  readonly block: string
  /** Where to begin; the record's beginning unless given. */
  readonly from: number | undefined
  /** Only what is there now. */
  readonly once: boolean
}

const STDOUT = 1
const MAX_SHOWN = 100_000

export function follow(flags: FollowFlags): Promise<number> {
  const query = [flags.from === undefined ? '' : `from=${flags.from}`, flags.once ? '' : 'follow=1']
  const path = `${panePath(flags.block, 'record')}?${query.filter((part) => part !== '').join('&')}`
  return withDaemon(flags, async (client, signal) => {
    const stream = await client.stream({ path, signal })
    if (stream.kind !== 'stream') return reportAnswer(flags, stream)
    try {
      for await (const line of stream.lines) {
        if (flags.json) print(line)
        else show(line)
      }
    } catch {
      say('the daemon ended the record in the middle: ask again from where it broke off')
      return EXIT_CODES.couldNotFindOut
    }
    signal.throwIfAborted()
    return 0
  })
}

function show(line: string): void {
  const item = parsed(line)
  const event: Readonly<Record<string, unknown>> = { ...(item.event as object) }
  if (item.kind === 'damage') {
    say(`a stretch of the record cannot be read (${plainText(item.why, 32)})`)
  } else if (item.kind === 'superseded') {
    say(plainText(String(Object(item.refusal).message), MAX_SHOWN))
  } else if (event.kind === 'output' && typeof event.text === 'string') {
    writeOut(shown(event.text))
  } else if (event.kind === 'turn' && typeof event.text === 'string') {
    writeOut(`> ${shown(event.text)}${event.more === true ? '' : '\n'}`)
  }
}

/** What an agent writes must not reach into the terminal of whoever watches it: only a file or a pipe gets it as it is. */
function shown(text: string): string {
  if (!isatty(STDOUT)) return text
  return text
    .split('\n')
    .map((part) => plainText(`.${part}`, MAX_SHOWN).slice(1))
    .join('\n')
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(line) }
  } catch {
    return {}
  }
}

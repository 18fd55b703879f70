/**
 * What a refused person can do with this command line, in the order in which it is named, with the flags that they gave: a
 * command that is pasted means the same agent.
 */
import { resolve } from 'node:path'
import type { AdviceOptions } from '@agentmux/refusals'
import type { CommonFlags } from './compose.js'

type Given = Pick<CommonFlags, 'channel' | 'sharedDir'>

export function adviceFor(given: Given): AdviceOptions {
  return { actions: ['end', 'wait', 'take-over', 'watch', 'status'], given: typedAgain(given) }
}

/** Where a daemon refuses: it does not watch. */
export function adviceOfDaemon(given: Given): AdviceOptions {
  return { actions: ['end', 'wait', 'take-over', 'status'], given: typedAgain(given) }
}

/** From whatever folder. */
function typedAgain({ channel, sharedDir }: Given): Given {
  return { channel, ...(sharedDir === undefined ? {} : { sharedDir: resolve(sharedDir) }) }
}

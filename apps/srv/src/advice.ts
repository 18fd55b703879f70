/** What a refused person can do with this command line, in the order in which it is named. */
import type { AdviceOptions } from '@agentmux/refusals'

export const ADVICE: AdviceOptions = { actions: ['end', 'wait', 'take-over', 'watch', 'status'] }

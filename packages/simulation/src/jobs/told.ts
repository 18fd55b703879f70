/** Runs one history and tells what came of it, in a form that goes from one process to another. */
import { runHistory } from '../run/history-of.js'
import type { MessageCount } from '../run/message-ends.js'
import type { Plan } from '../run/plan.js'
import type { Rejections } from '../run/rejections.js'
import type { RunParts } from '../run/stage.js'
import { storyOf } from '../run/story.js'
import type { Violation } from '../world/history.js'

export interface Told {
  readonly digest: string
  readonly events: number
  readonly virtualMs: number
  readonly requests: number
  readonly messages?: MessageCount
  readonly violation?: Violation
  /** What nobody caught. */
  readonly crash?: string
  readonly story?: string
  /** Of the process that ran it, since it told of the history before. */
  readonly cpuMs: number
  readonly megabytes: number
}

export interface TellParts {
  readonly parts: RunParts
  readonly rejections: Rejections
  readonly story: boolean
}

export class Teller {
  readonly #parts: TellParts
  #cpuUs = 0

  constructor(parts: TellParts) {
    this.#parts = parts
  }

  async tell(plan: Plan): Promise<Told> {
    const { parts, rejections, story } = this.#parts
    const outcome = runHistory(plan, parts)
    const crash = await rejections.first()
    const { digest, events, virtualMs, requests, messages, violation } = outcome
    const { user, system } = process.cpuUsage()
    const cpuMs = (user + system - this.#cpuUs) / 1_000
    this.#cpuUs = user + system
    return {
      digest,
      events,
      virtualMs,
      requests,
      ...(messages === undefined ? {} : { messages }),
      ...(violation === undefined ? {} : { violation }),
      ...(crash === undefined ? {} : { crash }),
      ...(story ? { story: storyOf(outcome, Number.POSITIVE_INFINITY) } : {}),
      cpuMs,
      megabytes: process.resourceUsage().maxRSS / 1_024
    }
  }
}

/** A history as people read it: who, when, what. */

import { describe } from './deed.js'
import type { Outcome } from './history-of.js'
import type { Plan } from './plan.js'

/** The last lines of it. */
export function storyOf({ history, violation }: Outcome, lines: number, plan?: Plan): string {
  const told = history.happenings.slice(-Math.min(lines, history.happenings.length))
  const story = told.map(
    ({ atUs, who, what }) => `${(atUs / 1_000_000).toFixed(6).padStart(12)} s  ${who}: ${what}`
  )
  if (plan !== undefined) {
    const deeds = plan.deeds.map(
      ({ atMs, deed }) => `${(atMs / 1_000).toFixed(3).padStart(9)} s  ${describe(deed)}`
    )
    story.unshift(`what was done, as little as it takes (${deeds.length}):`, ...deeds, 'what happened:')
  }
  if (violation !== undefined) story.push(`${violation.rule} is broken: ${violation.what}`)
  return story.join('\n')
}

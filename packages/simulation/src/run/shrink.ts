/** Makes a failing history smaller: fewer deeds, as long as the same rule is still broken. */
import type { Violation } from '../world/history.js'
import type { Outcome } from './history-of.js'
import type { Plan } from './plan.js'

const MAX_RUNS = 120

export function shrink(
  plan: Plan,
  violation: Violation,
  run: (plan: Plan) => Outcome
): { readonly plan: Plan; readonly outcome: Outcome } {
  let least = plan
  let outcome: Outcome | undefined
  let runs = 0
  for (let size = Math.ceil(least.deeds.length / 2); size >= 1; ) {
    let smaller = false
    for (let at = 0; at < least.deeds.length && runs < MAX_RUNS; ) {
      const candidate = { ...least, deeds: [...least.deeds.slice(0, at), ...least.deeds.slice(at + size)] }
      const tried = run(candidate)
      runs++
      if (tried.violation?.rule === violation.rule) {
        least = candidate
        outcome = tried
        smaller = true
      } else at += size
    }
    if (size === 1 && !smaller) break
    size = size > 1 ? Math.floor(size / 2) : runs < MAX_RUNS && smaller ? 1 : 0
  }
  return { plan: least, outcome: outcome ?? run(plan) }
}

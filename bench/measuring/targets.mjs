/** Measured values beside the targets of the project. A missed target is printed, never an exit code. */

/** `limit` is an upper bound unless `atLeast` is set. */
export function target(what, value, limit, { unit = '', atLeast = false } = {}) {
  const met = Number.isFinite(value) && (atLeast ? value >= limit : value <= limit)
  return { what, value, limit, unit, atLeast, met }
}

export function targetLines(targets) {
  return targets
    .map(({ what, value, limit, unit, atLeast, met }) => {
      const shown = Number.isFinite(value) ? String(Number(value.toPrecision(3))) : 'not measured'
      return `${met ? 'PASS' : 'MISS'}  ${what}: ${shown}${unit} (target: at ${atLeast ? 'least' : 'most'} ${limit}${unit})`
    })
    .join('\n')
}

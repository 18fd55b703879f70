/** What is said about many timings of one thing: median, 99th percentile, longest. */

/** The value below which the share `q` (0…1) of the values lies; NaN of none. */
export function quantile(values, q) {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}

export function median(values) {
  return quantile(values, 0.5)
}

/** Median, p99 and maximum, in the unit of the values. */
export function distribution(values) {
  return {
    count: values.length,
    median: median(values),
    p99: quantile(values, 0.99),
    max: quantile(values, 1)
  }
}

/** Microseconds with three figures: `8.42`, `30.1`, `812`. */
export function figures(value) {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

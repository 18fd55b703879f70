/** A line that says what was measured on, without naming the machine. */
import { availableParallelism, cpus, loadavg, release } from 'node:os'

export function machineLine() {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  const load = loadavg()[0]?.toFixed(1)
  return `${availableParallelism()} x ${model}, Linux ${release()}, Node ${process.version}, load ${load} at the start`
}

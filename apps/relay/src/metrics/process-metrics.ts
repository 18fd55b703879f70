/** What the relay itself uses, under the names that Prometheus has for it. */
import type { Metrics } from './metrics.js'

export function addProcessMetrics(metrics: Metrics, droppedLines: () => number): void {
  metrics.gauge({ name: 'process_cpu_seconds_total', help: 'CPU time, user and system.' }, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Memory.' }, () => process.memoryUsage.rss())
  metrics.gauge(
    { name: 'agentmux_relay_log_lines_dropped', help: 'Log lines that nobody read in time.' },
    droppedLines
  )
}

/** What was tried at which system call, added up by operation, call and path. */
import type { Fate, SystemCall } from './traced.js'

interface Row {
  points: number
  kills: number
  inside: number
  failures: number
  violations: number
}

const COLUMNS = ['points', 'kills', 'inside', 'failures', 'violations'] as const

export class CrashTable {
  readonly #rows = new Map<string, Row>()

  add(
    operation: string,
    call: SystemCall,
    { fate, inside, wrong }: { fate: Fate; inside: boolean; wrong: string[] }
  ): void {
    for (const name of [`${operation}  ${call.name}  ${call.path}`, `${operation}  all`]) {
      const row = this.#rows.get(name) ?? { points: 0, kills: 0, inside: 0, failures: 0, violations: 0 }
      const killed = 'kill' in fate
      row.points += 1
      row.kills += killed ? 1 : 0
      row.inside += killed && inside ? 1 : 0
      row.failures += killed ? 0 : 1
      row.violations += wrong.length
      this.#rows.set(name, row)
    }
  }

  text(): string {
    const rows = [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1))
    const width = Math.max(...rows.map(([name]) => name.length))
    const line = (name: string, cells: readonly unknown[]) =>
      `${name.padEnd(width)}  ${cells.map((cell) => String(cell).padStart(12)).join('')}`
    return [
      line('operation, system call, path', ['points', 'kills', 'in section', 'failures', 'violations']),
      ...rows.map(([name, row]) =>
        line(
          name,
          COLUMNS.map((column) => row[column])
        )
      )
    ].join('\n')
  }
}

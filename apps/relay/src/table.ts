/** A table on stdout: columns as wide as their widest cell. */
import { print } from './output.js'

export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [columns, ...rows]
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  for (const row of all) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
  }
}

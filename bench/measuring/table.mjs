/** A plain text table: the first column is left-aligned, the others right. */
export function table(header, rows) {
  const lines = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

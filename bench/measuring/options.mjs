/** Command lines of the benchmarks: `--name value` or `--flag`, all with defaults. */
import { parseArgs } from 'node:util'

/**
 * `defaults` gives name and default value; its type says what is parsed. `--help` prints `usage` and exits.
 */
export function readOptions(usage, defaults) {
  const options = { help: { type: 'boolean', default: false } }
  for (const [name, value] of Object.entries(defaults)) {
    options[name] = { type: typeof value === 'boolean' ? 'boolean' : 'string' }
  }
  let values
  try {
    values = parseArgs({ options }).values
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}\n`)
    process.exit(64)
  }
  if (values.help) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  const read = { ...defaults }
  for (const [name, value] of Object.entries(values)) {
    if (!(name in defaults)) continue
    read[name] = typeof defaults[name] === 'number' ? Number(value) : value
  }
  return read
}

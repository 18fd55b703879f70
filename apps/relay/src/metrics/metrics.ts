/**
 * Numbers about this process in the text format of Prometheus. Counters only grow; gauges are asked when somebody looks.
 * A metric holds as many series as it was declared with, so that no request can make it grow.
 */

export interface MetricText {
  readonly name: string
  /** One line. */
  readonly help: string
}

export type Labels = Readonly<Record<string, string>>

interface Family extends MetricText {
  readonly type: 'counter' | 'gauge'
  readonly samples: () => Iterable<readonly [Labels, number]>
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export class Counter<Label extends string> {
  readonly #label: string
  readonly #values: Map<Label, number>

  constructor(label: string, values: readonly Label[]) {
    this.#label = label
    this.#values = new Map(values.map((value) => [value, 0]))
  }

  add(value: Label): void {
    const before = this.#values.get(value)
    if (before !== undefined) this.#values.set(value, before + 1)
  }

  *samples(): Generator<readonly [Labels, number]> {
    for (const [value, count] of this.#values) yield [{ [this.#label]: value }, count]
  }
}

export class Metrics {
  readonly #families = new Map<string, Family>()

  /** All values a label can have, each shown from the start: a rate of something that never happened is 0, not absent. */
  counter<Label extends string>(text: MetricText, label: string, values: readonly Label[]): Counter<Label> {
    const counter = new Counter(label, values)
    this.#declare({ ...text, type: 'counter', samples: () => counter.samples() })
    return counter
  }

  gauge(text: MetricText, read: () => number): void {
    this.#declare({ ...text, type: 'gauge', samples: () => [[{}, read()]] })
  }

  /** One gauge per value of a label. */
  gauges(text: MetricText, read: () => Iterable<readonly [Labels, number]>): void {
    this.#declare({ ...text, type: 'gauge', samples: read })
  }

  text(): string {
    return [...this.#families.values()].map(familyText).join('')
  }

  /** @throws TypeError for a name that was declared before. */
  #declare(family: Family): void {
    if (this.#families.has(family.name)) throw new TypeError(`metric ${family.name} exists already`)
    this.#families.set(family.name, family)
  }
}

function familyText({ name, help, type, samples }: Family): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
  for (const [labels, value] of samples()) lines.push(`${name}${labelText(labels)} ${value}`)
  return `${lines.join('\n')}\n`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/["\\\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`))
}

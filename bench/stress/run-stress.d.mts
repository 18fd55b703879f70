import type { StressEvent } from './history.mjs'

export function runStress(options: {
  readonly folder: string
  readonly processes: number
  readonly seconds: number
  readonly seed: number
}): Promise<{ events: StressEvent[]; tally: { stops: number; kills: number } }>

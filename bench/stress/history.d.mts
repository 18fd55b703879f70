export interface StressEvent {
  readonly what: string
  readonly process: string
  readonly at: number
  readonly key?: string
  readonly invoked?: number
  readonly claim?: string
  readonly epoch?: number
  readonly ttlMs?: number
  readonly code?: string
}

export function violationsIn(events: readonly StressEvent[]): string[]

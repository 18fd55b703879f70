/** What people and the world can do to the hosts of one history. */
import type { Fate } from './message-fate.js'

export type Deed =
  | { readonly kind: 'open' | 'close' | 'take-over'; readonly slot: number; readonly agent: number }
  | { readonly kind: 'kill'; readonly slot: number; readonly afterCalls: number; readonly restartMs: number }
  | { readonly kind: 'stop'; readonly slot: number; readonly forMs: number }
  | {
      readonly kind: 'pause'
      readonly slot: number
      readonly afterCalls: number
      readonly forMs: number
      readonly whole: boolean
    }
  | { readonly kind: 'take-at-relay'; readonly slot: number; readonly agent: number }
  | { readonly kind: 'cut'; readonly host: number; readonly other: number; readonly forMs: number }
  | { readonly kind: 'bad-network'; readonly badness: number; readonly forMs: number }
  | { readonly kind: 'relay-down'; readonly forMs: number }
  /** `fate`: of whoever claims it first. */
  | {
      readonly kind: 'message'
      readonly host: number
      readonly to: number
      readonly from?: number
      readonly fate?: Fate
    }
  | { readonly kind: 'step-wall'; readonly host: number; readonly byMs: number }
  | { readonly kind: 'sleep'; readonly host: number; readonly forMs: number }
  | { readonly kind: 'power-cut'; readonly host: number; readonly forMs: number }
  | {
      readonly kind: 'bad-disk'
      readonly host: number
      readonly fault: 'ENOSPC' | 'EIO'
      readonly forMs: number
    }
  | { readonly kind: 'stuck-disk'; readonly host: number; readonly forMs: number }

export interface PlannedDeed {
  readonly atMs: number
  readonly deed: Deed
}

export function describe(deed: Deed): string {
  const { kind, ...rest } = deed
  return `${kind} ${Object.entries(rest)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')}`
}

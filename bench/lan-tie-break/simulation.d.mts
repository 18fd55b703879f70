import type { Contest, decide, peerWins } from '../../packages/lan-tier/src/index.js'

export interface Rules {
  readonly Contest: typeof Contest
  readonly decide: typeof decide
  readonly peerWins: typeof peerWins
}

export interface RoundOptions {
  readonly hosts: number
  readonly older?: number
  readonly rule?: 'ours' | 'no flag' | 'no second look'
  readonly loss?: number
  readonly rechecks?: number
  readonly seed: number
}

export function simulateRound(rules: Rules, options: RoundOptions): number[]
export function simulateRounds(
  rules: Rules,
  options: RoundOptions & { readonly rounds: number }
): { rounds: number; nobody: number[]; several: number[] }

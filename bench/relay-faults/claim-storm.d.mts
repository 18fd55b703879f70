export type StormAnswer =
  | { readonly kind: 'held'; readonly epoch: number }
  | { readonly kind: 'refused' | 'unavailable' | 'done' }

export interface StormClient {
  claim(agent: string): Promise<StormAnswer>
  release(agent: string): Promise<StormAnswer>
}

export interface StormResult {
  readonly claims: number
  readonly granted: number
  readonly refused: number
  readonly unavailable: number
  readonly longestMs: number
  readonly seconds: number
  readonly violations: readonly string[]
}

export declare function claimStorm(
  clients: readonly StormClient[],
  options: {
    readonly claims: number
    readonly agents: readonly string[]
    readonly ttlMs: number
    readonly onClaim?: (count: number) => void
  }
): Promise<StormResult>

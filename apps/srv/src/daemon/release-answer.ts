/** What comes of POST /agentmux/agent/release: another instance asks us to let an agent go. */
import type { ReleaseRequest } from '@agentmux/host-admission'

export interface Released {
  /** How many panes let it go; 0 if it is not held here. Nothing of them runs and the lease is given up. */
  readonly released: number
  /** It is driven here, or by a `run` that was asked for us, and is not let go: why, for the person who asks. */
  readonly refused?: string
}

export interface HandOver {
  release(request: ReleaseRequest, signal?: AbortSignal): Promise<Released>
}

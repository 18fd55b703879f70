/** What comes of POST /agentmux/agent/release: another instance asks us to let an agent go. */
import type { ReleaseRequest } from '@agentmux/host-admission'

/** How many panes let it go; 0 if it is not held here. Resolves when nothing of them runs and the lease is given up. */
export interface Released {
  readonly released: number
}

export interface HandOver {
  release(request: ReleaseRequest, signal?: AbortSignal): Promise<Released>
}

/** The outside audit: a process of its own that looks at /proc every few milliseconds. */
import { fixture, type Scene } from './scene.js'

export interface PolledClaims {
  readonly looks: number
  /** Every claim that was seen to have a living process. */
  readonly claims: readonly string[]
  /** Processes of two claims that were alive together. */
  readonly overlaps: readonly unknown[]
  /** Processes of a claim that were alive while there was no lease file. */
  readonly uncovered: readonly unknown[]
}

export interface ClaimPoller {
  /** Resolves once it has seen a process of this claim. */
  sees(claim: string): Promise<unknown>
  end(): Promise<PolledClaims>
}

/** Starts to look, and resolves once it does. */
export async function pollClaims(scene: Scene, uid = scene.uid): Promise<ClaimPoller> {
  const poller = scene.start([process.execPath, fixture('claim-poller.mjs'), uid, scene.leaseFile(uid)], {
    stdio: ['pipe', 'pipe', 'pipe']
  })
  await poller.says(/polling/)
  return {
    sees: (claim) => poller.says(new RegExp(`sees ${claim}`)),
    async end() {
      poller.endInput()
      const { stdout } = await poller.ended
      return JSON.parse(stdout)
    }
  }
}

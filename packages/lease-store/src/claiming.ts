/**
 * A claim from beginning to end: tries under the key's lock, ends the processes of the claim whose place it would take
 * without the lock, and tries again (R12).
 */
import { checkClaim } from './arguments.js'
import { type Claimer, claimUnderLock } from './claim.js'
import type { FileLock } from './file-lock.js'
import { createKey, refuseOtherCase } from './key-creation.js'
import type { ClaimRequest, ClaimResult } from './lease.js'
import type { LeaseFolder } from './lease-paths.js'
import type { EndPrevious } from './lease-store-options.js'
import type { TryFlock } from './native-flock.js'

export interface ClaimingParts {
  readonly claimer: Claimer
  readonly places: LeaseFolder
  readonly lock: FileLock
  readonly lockWaitMs: number
  readonly tryFlock: TryFlock
  readonly endPrevious: EndPrevious | undefined
}

export class Claiming {
  readonly #parts: ClaimingParts
  readonly #checkedCase = new Set<string>()

  constructor(parts: ClaimingParts) {
    this.#parts = parts
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    checkClaim(request)
    const { claimer, places, lock, lockWaitMs: waitMs, tryFlock, endPrevious } = this.#parts
    const { signal } = request
    const paths = places.pathsOf(request.agent.uid)
    const create = () => createKey(paths.key, paths, { tryFlock, signal })
    let endedClaimId: string | undefined
    for (;;) {
      const section = () => {
        this.#refuseOtherCaseOnce(paths.key)
        return claimUnderLock(claimer, paths, { request, endedClaimId })
      }
      const outcome = await lock.run(paths.lock, section, { waitMs, signal, create })
      if (outcome.kind !== 'end-first') return outcome
      // Nobody's processes are ended for a claim that would not be granted.
      if (request.unless?.() === true) return { kind: 'withheld' }
      // The lock is not held while processes are ended; what is found afterwards is judged anew.
      const { previous } = outcome
      const ending = (await endPrevious?.(previous, signal)) ?? { kind: 'ended' }
      if (ending.kind === 'remaining') {
        return { kind: 'refused', holder: previous.holder, remaining: ending.processes }
      }
      endedClaimId = previous.claimId
    }
  }

  /** Where the file system itself ignores letter case, opening the other key's files would succeed. */
  #refuseOtherCaseOnce(key: string): void {
    if (process.platform === 'linux' || this.#checkedCase.has(key)) return
    refuseOtherCase(key, this.#parts.places.path)
    this.#checkedCase.add(key)
  }
}

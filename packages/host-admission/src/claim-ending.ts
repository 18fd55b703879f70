/** Ends the processes of a claim of ours: what we may not end does not keep the rest from being ended. */
import type { AgentRef } from '@agentmux/lease-model'
import { type EndedProcesses, endClaimProcesses } from './claim-processes.js'
import type { DriverRecord } from './driver-record.js'
import type { LeaseHome } from './lease-home.js'

export interface EndingRequest {
  /** Between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
  /** The watchdog has sent SIGTERM: twice may mean something else to a process. */
  readonly terminated: boolean
  readonly signal?: AbortSignal | undefined
}

/** When the processes could not be looked for, that is tried again after this long. */
const LOOK_AGAIN_MS = 1_000

export class ClaimEnding {
  readonly #home: LeaseHome
  readonly #agent: AgentRef
  readonly #claimId: string
  readonly #driver: DriverRecord

  constructor(home: LeaseHome, claim: { agent: AgentRef; claimId: string; driver: DriverRecord }) {
    this.#home = home
    this.#agent = claim.agent
    this.#claimId = claim.claimId
    this.#driver = claim.driver
  }

  /** @throws the signal's reason; LeaseFault `io` if /proc cannot be read. */
  end(request: EndingRequest): Promise<EndedProcesses> {
    const { clock, look } = this.#home
    const driver = this.#driver.child
    return endClaimProcesses(this.#claimId, { ...request, clock, look, driver, trusted: true, partly: true })
  }

  /** As often as it takes to find out what is left. */
  async endSurely(request: EndingRequest): Promise<EndedProcesses> {
    for (;;) {
      try {
        return await this.end(request)
      } catch (fault) {
        this.#home.onFault(this.#agent, fault)
        await this.#home.clock.sleep(LOOK_AGAIN_MS)
      }
    }
  }
}

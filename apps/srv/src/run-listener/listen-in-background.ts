/** Brings the listener of a `run` up without making anything wait for it: its code, too, is loaded only then. */
import { type HeldAgentLease, type HostAdmission, ReactiveRegistry } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { say } from '../output.js'
import type { HandOverRequests } from './hand-over-requests.js'

/** Where others on this computer find a run. */
export interface Others {
  readonly admission: HostAdmission
  readonly sharedRoot: string
  readonly channel: string
  readonly clock: Clock
}

export interface BackgroundListener {
  /** Also before it is up. */
  close(): Promise<void>
}

export function listenInBackground(
  lease: HeldAgentLease,
  requests: HandOverRequests,
  { admission, sharedRoot, channel, clock }: Others
): BackgroundListener {
  const onFault = once((fault) => {
    const why = fault instanceof Error ? fault.message : String(fault)
    say(`the command runs, but no take-over can reach it: ${why}`)
  })
  const { host } = admission.store
  const registry = new ReactiveRegistry(sharedRoot, { clock, host, onFault })
  let isClosed = false
  const opening = import('./run-listener.js')
    .then(({ RunListener }) => {
      if (isClosed) return undefined
      return new RunListener({ lease, requests, admission, clock, registry, channel, onFault })
    })
    .catch((fault: unknown) => {
      onFault(fault)
      return undefined
    })
  return {
    async close() {
      isClosed = true
      const listener = await opening
      await listener?.close()
      registry.close()
    }
  }
}

/** It is said while the command runs, perhaps on its screen. */
function once(act: (fault: unknown) => void): (fault: unknown) => void {
  let isDone = false
  return (fault) => {
    if (!isDone) act(fault)
    isDone = true
  }
}

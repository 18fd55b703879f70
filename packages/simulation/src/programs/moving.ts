/** Both halves of a take-over between the daemons of one host, and what stands between them there: loopback, a registry. */
import { type HostAdmission, InstanceEndpoint, takeOver } from '@agentmux/host-admission'
import type { Clock, InstanceIdentity } from '@agentmux/lease-model'
import type { Elsewhere } from './elsewhere.js'
import type { Panes } from './panes.js'
import type { Answer, Question, System } from './system.js'

export interface MovingPorts {
  readonly clock: Clock
  readonly instance: InstanceIdentity
  readonly admission: HostAdmission
  readonly panes: Panes
  readonly elsewhere: Elsewhere
}

/** The holder's half: the hold first, then the end of what runs, then the lease, then the relay. */
export async function letGo(
  { body }: Question,
  { admission, panes }: Pick<MovingPorts, 'admission' | 'panes'>,
  system: System
): Promise<Answer> {
  const { uid = '', requested_by_channel, requested_by_version } = body as Record<string, string>
  const driven = [...admission.held].some((lease) => lease.agent.uid === uid && lease.held)
  if (!driven) return { status: 200, body: { ok: true, released: 0 } }
  const hold = admission.holds.holdAfterHandover(uid, {
    channel: requested_by_channel ?? '',
    version: requested_by_version ?? ''
  })
  system.tell({ kind: 'keeps', uid })
  const given = await panes.letGo(uid)
  if (given !== 'released') hold.withdraw()
  return { status: 200, body: { ok: true, released: given === 'released' ? 1 : 0 } }
}

/** Those of this host that can be asked. There is no registry here: everybody is known. */
export function othersOf(system: System) {
  return {
    endpointsOf: (holder: { pid: number; channel: string }) =>
      system
        .others()
        .filter(({ pid, channel }) => pid === holder.pid || channel === holder.channel)
        .sort((one, other) => Number(other.pid === holder.pid) - Number(one.pid === holder.pid))
        .flatMap(({ pid, channel, port }) => {
          const endpoint = InstanceEndpoint.at(`http://127.0.0.1:${port}`, { authKey: 'k', pid, channel })
          return endpoint === undefined ? [] : [endpoint]
        }),
    probeOtherInstances: async () => ({ kind: 'nobody' as const, silent: [] })
  }
}

/** The requester's half. Whatever comes of it: the person wants the agent here, and waits if need be. */
export async function takeOverHere(
  uid: string,
  { admission, clock, instance, panes, elsewhere }: MovingPorts,
  system: System
): Promise<void> {
  const { store, holds, held } = admission
  holds.clearHandoverHold(uid)
  const client = {
    requestRelease: async (endpoint: InstanceEndpoint, request: Record<string, unknown>) => {
      const body = {
        uid: request.uid,
        requested_by_channel: request.requestedByChannel,
        requested_by_version: request.requestedByVersion
      }
      const answer = await system.ask(endpoint.pid, { path: '/agentmux/agent/release', body }, 30_000)
      if (answer === undefined) return { kind: 'no-answer' as const, why: 'silent' }
      return { kind: 'released' as const, count: (answer.body as { released: number }).released }
    }
  }
  const result = await takeOver(
    { agent: { uid }, reserveFor: 'this-process' },
    { store, holds, others: othersOf(system) as never, client: client as never, held, clock, instance }
  )
  system.tell({ kind: 'note', text: `take-over of ${uid}: ${result.kind}` })
  if (result.kind === 'free' || result.kind === 'released') {
    const letGoBy = result.kind === 'released' ? result.fromChannel : undefined
    if (!(await elsewhere.takeOver(uid, letGoBy))) holds.withdrawReservation(uid)
  }
  panes.open(uid)
}

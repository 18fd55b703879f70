/**
 * A take-over from the command line: permitted, then confirmed by the person, then done. Until the person has said yes
 * it only looks.
 */
import {
  type HandoverHolds,
  type HeldLease,
  InstanceClient,
  locateHolder,
  OtherInstances,
  ReactiveRegistry,
  type TakeOverProgress,
  type TakeOverRequest,
  type TakeOverResult,
  takeOver
} from '@agentmux/host-admission'
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'
import { LeaseFault, type LeaseStore } from '@agentmux/lease-store'
import {
  type AdviceOptions,
  askingToLetGoMessage,
  takeOverQuestion,
  waitingMessage
} from '@agentmux/refusals'
import type { Progress } from '../progress.js'
import { askPerson } from './ask-person.js'
import { mayTakeOver } from './may-take-over.js'

export interface TakeOverParts {
  readonly agent: AgentRef
  readonly yes: boolean
  readonly reserveFor: NonNullable<TakeOverRequest['reserveFor']>
  readonly sharedRoot: string
  readonly store: LeaseStore
  readonly holds: HandoverHolds
  readonly clock: Clock
  readonly progress: Progress
  readonly advice: AdviceOptions
  readonly signal: AbortSignal
}

export type ConfirmedTakeOver =
  | TakeOverResult
  /** Not for whoever asks: inside a pane, or nobody there to confirm it. */
  | { readonly kind: 'not-permitted'; readonly message: string }
  /** The person said no. */
  | { readonly kind: 'declined'; readonly holder: Holder }

/** Nothing is held by a process that only takes over. */
const NONE: readonly HeldLease[] = []

/** @throws the signal's reason when aborted, and then nothing is left behind. */
export async function confirmAndTakeOver(parts: TakeOverParts): Promise<ConfirmedTakeOver> {
  const { agent, yes, reserveFor, sharedRoot, store, holds, clock, progress, advice, signal } = parts
  const permission = mayTakeOver(yes, { environment: process.env, store })
  if (permission.kind === 'refused') return { kind: 'not-permitted', message: permission.message }
  const registry = new ReactiveRegistry(sharedRoot, { clock, host: store.host })
  const client = new InstanceClient({ clock })
  const others = new OtherInstances({ registry, client, hostname: store.host.hostname })
  if (permission.kind === 'ask') {
    const holder = await holderOf(agent, { store, others, signal })
    if (holder !== undefined && !(await askPerson(takeOverQuestion(agent, holder, clock.wallMs()), signal))) {
      return { kind: 'declined', holder }
    }
  }
  const startedMs = clock.bootMs()
  const onProgress = (now: TakeOverProgress) => {
    const waitedMs = clock.bootMs() - startedMs
    progress.show(
      now.kind === 'asking'
        ? askingToLetGoMessage(agent, now.holder, clock.wallMs())
        : waitingMessage(agent, now.holder, clock.wallMs(), { waitedMs })
    )
  }
  const { channel, version } = store.instance
  try {
    return await takeOver(
      { agent, reserveFor, signal, onProgress },
      { store, holds, others, client, held: NONE, clock, instance: { channel, version }, advice }
    )
  } finally {
    progress.end()
  }
}

/** Whom the question is about; undefined where there is nobody to be stopped, or that cannot be found out. */
async function holderOf(
  { uid }: AgentRef,
  ports: { store: LeaseStore; others: OtherInstances; signal: AbortSignal }
): Promise<Holder | undefined> {
  try {
    const located = await locateHolder(uid, { ...ports, held: NONE })
    return 'holder' in located ? located.holder : undefined
  } catch (fault) {
    // Then the take-over cannot read it either, and says so.
    if (fault instanceof LeaseFault) return undefined
    throw fault
  }
}

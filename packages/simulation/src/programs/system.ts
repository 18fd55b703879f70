/** What a program in a simulated process finds of the world beside the modules of Node: its orders, and whom to tell. */
import type { Peer } from '@agentmux/lan-tier'

export interface System {
  readonly config: ProgramConfig
  /** Virtual time, for telling when something was asked. Not a clock of the host. */
  nowUs(): number
  random(): number
  /** How often this process has changed something on a disk. */
  writes(): number
  tell(report: Report): void
  /** Starts what drives an agent; `onExit` is called once it has ended, if we live. */
  spawn(
    agent: { uid: string; claimId: string; environment: Record<string, string> },
    onExit: () => void
  ): { pid: number }
  /** What people ask of this process. */
  readonly orders: {
    open?: (uid: string) => void
    close?: (uid: string) => void
    takeOver?: (uid: string) => void
    /** Moves the agent here at the relay, whoever has it. */
    takeAtRelay?: (uid: string) => void
    /** Discovery sees somebody again. */
    peerSeen?: () => void
  }
  /** Asks another process of this host, over loopback; undefined if there is no answer. */
  ask(pid: number, question: Question, timeoutMs: number): Promise<Answer | undefined>
  /** How this process answers others. */
  answer(handler: (question: Question) => Promise<Answer>): void
  /** How this process answers what comes over the network at its port. */
  serve(handler: (request: NetworkRequest) => Promise<NetworkResponse>): void
  /** The daemons of other hosts that this one has ever seen. */
  peers(): readonly Peer[]
  /** The other daemons of this host that can be asked, latest first. */
  others(): readonly { readonly pid: number; readonly channel: string; readonly port: number }[]
}

export interface ProgramConfig {
  readonly sharedRoot: string
  readonly channel: string
  readonly version: string
  readonly port: number
  /** Whether others are looked for on the network. */
  readonly lan: boolean
  /** Undefined where there is no relay. */
  readonly relay: { readonly url: string; readonly token: string; readonly install: string } | undefined
}

export interface NetworkRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface NetworkResponse {
  readonly status: number
  readonly body: string
}

export type Question = { readonly path: string; readonly body: unknown }
export type Answer = { readonly status: number; readonly body: unknown }

export type Report =
  | { readonly kind: 'instance'; readonly owner: string; readonly endsPrevious: boolean }
  | {
      readonly kind: 'granted'
      readonly uid: string
      readonly epoch: number
      readonly owner: string
      readonly block: string
      readonly claimId: string
    }
  /** What a caller was told about a claim, and when it asked. */
  | {
      readonly kind: 'answered'
      readonly what: string
      readonly uid: string
      readonly claimId: string
      readonly fromUs: number
    }
  | { readonly kind: 'turn'; readonly uid: string; readonly claimId: string; readonly fromUs: number }
  | { readonly kind: 'lost'; readonly uid: string; readonly why: string }
  | {
      readonly kind: 'refused'
      readonly uid: string
      readonly why: string
      readonly writes: number
      readonly idle: boolean
    }
  /** It gives the agent up because another computer has it. */
  | { readonly kind: 'yields'; readonly uid: string; readonly to: string; readonly by: 'lan' | 'relay' }
  /** The relay said, and the client believes, that it holds the agent. */
  | { readonly kind: 'held-at-relay'; readonly uid: string }
  /** At the relay: who asked for what, and what came of it. */
  | {
      readonly kind: 'relay'
      readonly call: string
      readonly account: string
      readonly agent: string
      readonly holder: string
      readonly status: number
      readonly epoch: number
      readonly heldBy: string
    }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'wrong'; readonly rule: string; readonly text: string }

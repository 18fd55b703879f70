/** What a program in a simulated process finds of the world beside the modules of Node: its orders, and whom to tell. */
import type { Peer } from '@agentmux/lan-tier'
import type { NetPipe } from '../world/net-pipe.js'
import type { MessageReport } from './message-reports.js'

export interface System {
  readonly config: ProgramConfig
  /** Virtual time, for telling when something was asked. Not a clock of the host. */
  nowUs(): number
  random(): number
  /** Whether nothing goes wrong any more by chance. */
  healed(): boolean
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
    /** Leaves a message for an agent at the relay. */
    inject?: (message: { uid: string; text: string; source: string | undefined }) => void
  }
  /** Asks another process of this host, over loopback; undefined if there is no answer. */
  ask(pid: number, question: Question, timeoutMs: number): Promise<Answer | undefined>
  /** How this process answers others. */
  answer(handler: (question: Question) => Promise<Answer>): void
  /** How this process answers what comes over the network at its port. */
  serve(handler: (request: NetworkRequest, asker: unknown) => Promise<NetworkResponse>): void
  /** An answer that goes on. */
  pipe(): NetPipe
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
  /** How far apart the turns of an agent are, about; some seconds unless given. */
  readonly turnEveryMs: number | undefined
  /** By how much longer than a few seconds whoever was refused waits before he tries again. */
  readonly patience: number
  /** Whether others are looked for on the network. */
  readonly lan: boolean
  /** Whether messages of the relay become turns. */
  readonly messages: boolean
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
  readonly pipe?: NetPipe
}

export type Question = { readonly path: string; readonly body: unknown }
export type Answer = { readonly status: number; readonly body: unknown }

export type Report =
  | MessageReport
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
      /** What objected: a hold, the lease, another tier, the claim. */
      readonly by: string
      readonly why: string
      /** When it asked. */
      readonly fromUs: number
      readonly writes: number
      readonly idle: boolean
    }
  /** A store refused a claim. `bootMs`: the clock that the store judges by, before it was asked. */
  | { readonly kind: 'turned-away'; readonly uid: string; readonly bootMs: number; readonly fromUs: number }
  /** The agent is kept for somebody from now on, by this process's own memory. */
  | { readonly kind: 'keeps'; readonly uid: string }
  /** It has asked the network who drives the agent. `seen`: the hashes of the claims it was told of. */
  | {
      readonly kind: 'looks'
      readonly uid: string
      readonly fromUs: number
      readonly atEverybody: boolean
      /** Somebody was silent, and is asked once more. */
      readonly again: boolean
      readonly seen: readonly string[]
    }
  /** It gives the agent up because another computer has it. `claim`: the hash of that claim, where it is known. */
  | {
      readonly kind: 'yields'
      readonly uid: string
      readonly to: string
      readonly by: 'lan' | 'relay'
      readonly claim: string
    }
  /** The relay said, and the client believes, that it holds the agent. */
  | { readonly kind: 'held-at-relay'; readonly uid: string }
  /** The relay has confirmed that it holds the agent no more. */
  | { readonly kind: 'let-go-at-relay'; readonly uid: string }
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

/** What a program in a simulated process finds of the world beside the modules of Node: its orders, and whom to tell. */
export interface System {
  readonly config: ProgramConfig
  /** Virtual time, for telling when something was asked. Not a clock of the host. */
  nowUs(): number
  random(): number
  /** How often this process has changed something on a disk. */
  writes(): number
  tell(report: Report): void
  /** Starts what drives an agent; `onExit` is called once it has ended, if we live. */
  spawn(agent: { uid: string; claimId: string; environment: Record<string, string> }, onExit: () => void): { pid: number }
  /** What people ask of this process. */
  readonly orders: {
    open?: (uid: string) => void
    close?: (uid: string) => void
    takeOver?: (uid: string) => void
  }
  /** Asks another process of this host, over loopback; undefined if there is no answer. */
  ask(pid: number, question: Question, timeoutMs: number): Promise<Answer | undefined>
  /** How this process answers others. */
  answer(handler: (question: Question) => Promise<Answer>): void
  /** The other daemons of this host that can be asked, latest first. */
  others(): readonly { readonly pid: number; readonly channel: string; readonly port: number }[]
}

export interface ProgramConfig {
  readonly sharedRoot: string
  readonly channel: string
  readonly version: string
  readonly port: number
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
  | { readonly kind: 'refused'; readonly uid: string; readonly why: string; readonly writes: number; readonly idle: boolean }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'wrong'; readonly rule: string; readonly text: string }

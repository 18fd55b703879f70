/** What programs tell of messages: at the relay, at the sender, at the input of what drives an agent. */

export type MessageReport =
  /** At the relay: who asked for what, and what came of it. */
  | {
      readonly kind: 'message-call'
      readonly call: 'inject' | 'pending' | 'ack' | 'give-back'
      readonly account: string
      readonly agent: string
      /** As the relay tells holders apart. */
      readonly holder: string
      readonly requestKey: string
      readonly status: number
      /** Queued, listed, won or given back. */
      readonly ids: readonly string[]
      readonly text: string
      /** The process that sent the request, which the relay does not know. */
      readonly asker: unknown
    }
  /** Somebody who sent a message was told that the relay has it. */
  | { readonly kind: 'message-sent'; readonly id: string; readonly text: string }
  /** It was written to the input of what drives the agent. */
  | {
      readonly kind: 'message-delivered'
      readonly uid: string
      readonly claimId: string
      readonly text: string
      readonly fromUs: number
    }

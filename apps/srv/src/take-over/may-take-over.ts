/** Who may take an agent over: a person at a terminal, who is asked, or a script that a person has given --yes (R5). */
import type { LeaseStore } from '@agentmux/lease-store'
import { isPersonThere } from './ask-person.js'
import { standing } from './inside-pane.js'

export type Permission =
  | { readonly kind: 'ask' }
  | { readonly kind: 'confirmed' }
  /** `message`: for people. */
  | { readonly kind: 'refused'; readonly message: string }

export interface MayTakeOverPorts {
  readonly environment: NodeJS.ProcessEnv
  readonly store: LeaseStore
}

/** `yes`: --yes was given. */
export function mayTakeOver(yes: boolean, { environment, store }: MayTakeOverPorts): Permission {
  const where = standing(environment, store)
  if (where.kind === 'inside') {
    if (where.sharesTerminal && !yes && isPersonThere()) return { kind: 'ask' }
    return {
      kind: 'refused',
      message:
        `this was started inside a pane of an agent (${where.why}), and an agent may not take another over. ` +
        `${yes ? '--yes does not help there: a' : 'A'} person does it in a terminal of their own.`
    }
  }
  if (yes) return { kind: 'confirmed' }
  if (isPersonThere()) return { kind: 'ask' }
  return {
    kind: 'refused',
    message:
      'a take-over stops the agent where it runs, and nobody is at a terminal to be asked. In a script, add --yes.'
  }
}

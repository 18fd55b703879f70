/** Who holds an agent, as the relay answers a query. A read: asking claims, renews and extends nothing (R6). */
import type { Holder } from '@agentmux/lease-model'
import type { Unknown } from './unknown-why.js'

export type HolderAnswer =
  | { readonly kind: 'free' }
  | { readonly kind: 'yours' }
  | { readonly kind: 'other'; readonly holder: Holder }
  | Unknown

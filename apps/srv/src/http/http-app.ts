/** The server as the routes see it: bodies and queries are checked by zod, and every route says which keys open it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify'
import type * as z from 'zod/mini'
import type { Log } from '../log/log.js'
import type { Caller, KeyClass } from './access-keys.js'

/** What `schema` of a route says, its handler gets. */
export interface ZodSchemas extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodMiniType ? z.output<this['schema']> : unknown
}

export type HttpApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, Log, ZodSchemas>

/** The keys that open a route, or `anyone`. A route that does not say is not opened by any. */
export type Opens = readonly KeyClass[] | 'anyone'

export interface RouteAccess {
  readonly method: string
  readonly path: string
  readonly opens: Opens
}

export const FULL: readonly KeyClass[] = ['full']
/** What panes do with their own key. */
export const REACTIVE: readonly KeyClass[] = ['full', 'pane']
/** What another computer may ask. */
export const LAN: readonly KeyClass[] = ['full', 'lan']

declare module 'fastify' {
  interface FastifyContextConfig {
    opens?: Opens
  }
  interface FastifyRequest {
    caller: Caller
    /** The pane whose own key was presented; empty for every other caller. */
    callerBlockId: string
  }
  interface FastifyInstance {
    /** All routes, in the order in which they were added. */
    readonly routeAccess: readonly RouteAccess[]
  }
}

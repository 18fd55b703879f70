/** The headers that every answer has, for a stream: it is written without fastify, and the last on its connection. */
import type { FastifyReply } from 'fastify'

export type StreamHeaders = Readonly<Record<string, string>>

export function streamHeaders(reply: FastifyReply): StreamHeaders {
  const headers = Object.entries(reply.getHeaders())
  return { ...Object.fromEntries(headers.map(([name, value]) => [name, String(value)])), connection: 'close' }
}

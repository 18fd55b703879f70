/** Talking to an instance as another instance does: by its entry in the reactive registry, over HTTP on loopback. */
import { readFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { join } from 'node:path'
import type { Scene } from './scene.js'
import { until } from './until.js'

export interface Entry {
  readonly agent_id: string
  readonly local_url: string
  readonly block_id: string
  readonly pid: number
  readonly auth_key: string
  readonly channel: string
  readonly registration_nonce: number
}

export interface Asked {
  readonly method?: string
  /** The entry's, unless given; none where it is null. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as it is where it is text. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route answers; the test says what it expects
  readonly body: any
  readonly text: string
}

export function entryFile(scene: Scene, name = scene.uid, channel = 'stable'): string {
  return join(scene.shared, 'agents', 'reactive', name, `${channel}.json`)
}

/** The entry of an agent, once it is there. */
export function registered(scene: Scene, name = scene.uid, channel = 'stable'): Promise<Entry> {
  const path = entryFile(scene, name, channel)
  return until(`${path} is there`, () =>
    scene.exists(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Entry) : undefined
  )
}

export function ask(entry: Entry, path: string, asked: Asked = {}): Promise<Answered> {
  const {
    method = asked.body === undefined ? 'GET' : 'POST',
    key = entry.auth_key,
    headers,
    body,
    signal
  } = asked
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = send(new URL(entry.local_url), {
      path,
      method,
      agent: false,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(key === null ? {} : { 'x-authkey': key }),
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        ...headers
      }
    })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: jsonOf(text), text })
      })
    })
    request.end(payload)
  })
}

/** The request of a take-over, as the instance of another channel sends it. */
export function askToLetGo(entry: Entry, uid: string, asked: Asked & { channel?: string } = {}) {
  const { channel = 'beta', ...rest } = asked
  return ask(entry, '/agentmux/agent/release', {
    body: { uid, requested_by_channel: channel, requested_by_version: '9.9.9' },
    ...rest
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

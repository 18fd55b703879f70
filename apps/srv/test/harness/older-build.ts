/** An instance of an older build: it answers HTTP on loopback and has an entry in the reactive registry. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { onTestFinished } from 'vitest'
import { entryFile } from './instance.js'
import { putLease, record } from './lease-record.js'
import { bootMs, startTicksOf } from './processes.js'
import type { Program } from './program.js'
import type { Scene } from './scene.js'

export interface OlderBuildOptions {
  /** The process that it says it is. */
  readonly pid: number
  /** The agents that it says it runs, by UID. */
  readonly registrations?: readonly string[]
  /** What it answers to a release; undefined: nothing, ever. */
  readonly release:
    | { readonly status: number; readonly body: unknown; readonly before?: () => void }
    | undefined
}

export interface OlderBuild {
  /** How often it was asked to let go. */
  readonly asked: () => number
  /** From now on it runs nothing any more. */
  readonly forget: () => void
}

export const OLDER_CHANNEL = 'older'

export async function olderBuild(scene: Scene, options: OlderBuildOptions): Promise<OlderBuild> {
  let asked = 0
  let uids = options.registrations ?? []
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/agentmux/reactive/agents') {
      const items = uids.map((uid) => ({
        agent_id: 'ada',
        block_id: 'block',
        uid,
        registered_at: 1,
        last_seen: 1
      }))
      return send(200, items)
    }
    asked += 1
    if (options.release === undefined) return
    options.release.before?.()
    send(options.release.status, options.release.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const path = entryFile(scene, 'ada', OLDER_CHANNEL)
  mkdirSync(dirname(path), { recursive: true })
  const entry = {
    agent_id: 'ada',
    local_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    block_id: 'block',
    pid: options.pid,
    updated_at: Date.now(),
    auth_key: 'their-key',
    channel: OLDER_CHANNEL
  }
  writeFileSync(path, JSON.stringify(entry), { mode: 0o600 })
  return {
    asked: () => asked,
    forget: () => {
      uids = []
    }
  }
}

/** A lease that another process holds, as an instance of that channel would. Returns its pid. */
export function leaseOfOlderBuild(scene: Scene): number {
  const { pid } = anotherProcess(scene)
  putLease(
    scene,
    record(scene, {
      pid,
      pid_start_ticks: startTicksOf(pid),
      channel: OLDER_CHANNEL,
      acquired_at_ms: Date.now(),
      renewed_at_ms: Date.now(),
      ttl_ms: 3_600_000,
      renewed_boot_ms: Math.round(bootMs())
    })
  )
  return pid
}

/** None of those that start the program: whoever is started by a holder is inside its pane. */
export function anotherProcess(scene: Scene): Program {
  return scene.start([process.execPath, '-e', 'setInterval(() => {}, 1e6)'])
}

export function removeLeaseFile(scene: Scene): void {
  rmSync(scene.leaseFile())
}

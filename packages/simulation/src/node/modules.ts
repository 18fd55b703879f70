/** What `require` gives to the code of a simulated thread: the modules of Node that touch the world, on the simulated one. */
import * as crypto from 'node:crypto'
import * as events from 'node:events'
import * as net from 'node:net'
import * as path from 'node:path'
import * as stream from 'node:stream'
import * as util from 'node:util'
import type { Thread } from '../kernel/thread.js'
import { fileSystem } from './fs.js'
import { performanceOf, timersOf } from './globals.js'
import { type StartThread, type ThreadPort, workerThreads } from './worker-threads.js'

export interface ThreadRole {
  /** For a thread that another one started. */
  readonly port?: ThreadPort
  readonly data?: unknown
}

/** More modules of one program: what it finds of the network, say. */
export type MoreModules = (thread: Thread) => Readonly<Record<string, unknown>>

export function modulesOf(
  thread: Thread,
  parts: { start: StartThread; role: ThreadRole; more: MoreModules }
): (name: string) => unknown {
  const { process, sandbox } = thread
  const { host } = process
  const timers = timersOf(thread)
  const later = (begin: (callback: () => void) => void, value?: unknown) =>
    new sandbox.Promise((resolve) => begin(() => resolve(value)))
  const fs = fileSystem(thread)
  const { role } = parts
  const threads = workerThreads(thread, parts.start)
  const random = host.world.random
  const table: Record<string, unknown> = {
    fs,
    'fs/promises': {},
    path,
    util,
    events,
    net,
    stream,
    dgram: {},
    'multicast-dns': {},
    os: {
      hostname: () => host.name,
      uptime: () => Math.floor(host.bootUs / 10_000) / 100,
      networkInterfaces: () => ({
        lan0: [{ address: host.address, cidr: `${host.address}/16`, family: 'IPv4', internal: false }]
      })
    },
    perf_hooks: { performance: performanceOf(thread) },
    'timers/promises': {
      setTimeout: (delayMs: number, value?: unknown) =>
        later((callback) => timers.set(callback, delayMs), value),
      setImmediate: (value?: unknown) => later((callback) => timers.setImmediate(callback), value)
    },
    worker_threads:
      role.port === undefined ? threads : { ...threads, parentPort: role.port, workerData: role.data },
    module: {
      createRequire: () => (name: string) => (name === 'fs-ext' ? { flockSync: fs.flockSync } : undefined)
    },
    crypto: {
      ...crypto,
      randomUUID: () => random.uuid(),
      randomInt: (least: number, most: number) => random.int(least, most - 1),
      randomBytes: (size: number) => Buffer.from(Array.from({ length: size }, () => random.int(0, 255)))
    },
    ...parts.more(thread)
  }
  return (name) => {
    const found = table[name.replace(/^node:/, '')]
    if (found === undefined) throw new Error(`the simulated world has no module ${name}`)
    return found
  }
}

/**
 * Watches the system calls of another process's main thread, and kills it at one of them, or makes one fail, through
 * strace. A store does its file work synchronously on that thread, so the calls of one operation come in a fixed order.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SystemCall {
  readonly name: string
  /** How many of its name came before, since the trace began. */
  readonly nth: number
  /** The path that it is about, below the folder that is watched; empty if there is none. */
  readonly path: string
  /** The decoded strings of its arguments, the paths behind its descriptors among them, in order. */
  readonly strings: readonly string[]
  readonly result: string
}

export type Fate = { readonly kill: true } | { readonly error: string }

/** What is traced: everything that a store does to a file. One name per kind of call, so that counts are comparable. */
const FILE_CALLS = [
  'openat',
  'mkdir',
  'rename',
  'unlink',
  'flock',
  'fsync',
  'pread64',
  'pwrite64',
  'getdents64',
  'newfstatat',
  'statx',
  'close'
]

/**
 * Runs `work` while the process is watched. With `at`, that call meets its fate: the process is killed as it enters the
 * call, or the call does nothing and returns the error.
 */
export async function traced(
  pid: number,
  folder: string,
  { work, at }: { work: () => Promise<unknown>; at?: { call: SystemCall; fate: Fate } }
): Promise<SystemCall[]> {
  const log = join(folder, 'trace')
  const args = [
    '-y',
    '-xx',
    '-s',
    '8192',
    '-o',
    log,
    '-e',
    `trace=${FILE_CALLS.join(',')}`,
    '-p',
    String(pid)
  ]
  if (at !== undefined) {
    const what = 'kill' in at.fate ? 'signal=KILL' : `error=${at.fate.error}`
    args.push('-e', `inject=${at.call.name}:${what}:when=${at.call.nth + 1}`)
  }
  const strace = spawn('strace', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' }
  })
  const gone = once(strace, 'exit')
  await attached(strace.stderr)
  await work()
  strace.kill('SIGINT')
  await gone
  return callsOf(readFileSync(log, 'latin1'), folder)
}

function attached(stderr: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    stderr.on('data', (data) => {
      said += data
      if (said.includes('attached')) resolve()
    })
    stderr.on('end', () => reject(new Error(`strace did not attach: ${said}`)))
  })
}

function callsOf(log: string, folder: string): SystemCall[] {
  const counts = new Map<string, number>()
  const calls: SystemCall[] = []
  for (const line of log.split('\n')) {
    const name = /^(\w+)\(/.exec(line)?.[1]
    if (name === undefined) continue
    const nth = counts.get(name) ?? 0
    counts.set(name, nth + 1)
    const end = line.lastIndexOf(' = ')
    const strings = stringsOf(end === -1 ? line : line.slice(0, end))
    const path = strings.find((text) => text.startsWith(`${folder}/`))?.slice(folder.length + 1) ?? ''
    calls.push({ name, nth, path, strings, result: end === -1 ? '' : line.slice(end + 3) })
  }
  return calls
}

function stringsOf(call: string): string[] {
  return [...call.matchAll(/"((?:\\x[0-9a-f]{2})*)"|<((?:\\x[0-9a-f]{2}|[^>])*)>/g)].map(([, quoted, path]) =>
    decoded(quoted ?? path ?? '')
  )
}

function decoded(text: string): string {
  return text.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** What a simulated kernel shows in /proc, as far as the packages look. */
import type { Process } from '../kernel/process.js'

/** The kernel gives its first pid namespace this inode at every boot. */
const INITIAL_PID_NAMESPACE = 4_026_531_836
const TIME_NAMESPACE = 4_026_531_834
const ZEROS = '0 '.repeat(40)

export function isProc(path: string): boolean {
  return path === '/proc' || path.startsWith('/proc/') || path === '/dev/null'
}

/** Undefined if there is no such file. */
export function procText(path: string, reader: Process): Buffer | undefined {
  const { host } = reader
  if (path === '/proc/sys/kernel/random/boot_id') return Buffer.from(`${host.bootId}\n`)
  if (path === '/proc/sys/kernel/random/uuid') return Buffer.from(`${host.world.random.uuid()}\n`)
  if (path === '/proc/locks') return Buffer.alloc(0)
  const [, which = '', file = ''] = /^\/proc\/(\d+|self)\/([a-z]+)$/.exec(path) ?? []
  const shown = which === 'self' ? reader : host.processes.get(Number(which))
  if (shown === undefined) return undefined
  switch (file) {
    case 'stat':
      return Buffer.from(statLine(shown))
    case 'environ':
      return shown.alive ? shown.environ : Buffer.alloc(0)
    case 'status':
      return Buffer.from('Name:\tx\nUid:\t1000\t1000\t1000\t1000\n')
    case 'cmdline':
    case 'comm':
      return Buffer.from(`${shown.name}\0`)
    default:
      return undefined
  }
}

export function procFolder(path: string, reader: Process): string[] | undefined {
  if (path === '/proc') return [...[...reader.host.processes.keys()].map(String), 'self', 'sys']
  const pid = /^\/proc\/(\d+)\/task$/.exec(path)?.[1]
  return pid !== undefined && reader.host.processes.has(Number(pid)) ? [pid] : undefined
}

export function procLink(path: string, reader: Process): string | undefined {
  if (path === '/proc/self') return String(reader.pid)
  if (path === '/proc/self/ns/pid') return `pid:[${INITIAL_PID_NAMESPACE}]`
  if (path === '/proc/self/ns/time') return `time:[${TIME_NAMESPACE}]`
  return undefined
}

/** Fields 1 to 52, as proc(5) counts them. */
function statLine(process: Process): string {
  const state = !process.alive ? 'Z' : process.stopped ? 'T' : 'S'
  const name = process.name.replace(/[^a-z0-9-]/gi, '_').slice(0, 15)
  const parent = process.parent?.alive === true ? process.parent.pid : 1
  const [size, from, to] = !process.alive
    ? [0, 0, 0]
    : [1_000_000, 1_000, process.environ.length === 0 ? 1_000 : 2_000]
  return (
    `${process.pid} (${name}) ${state} ${parent} ${process.groupId} ${zeros(6, 19)} 1 0 ` +
    `${process.startTicks} ${size} ${zeros(24, 49)} ${from} ${to} 0\n`
  )
}

function zeros(firstField: number, lastField: number): string {
  return ZEROS.slice(0, 2 * (lastField - firstField) + 1)
}

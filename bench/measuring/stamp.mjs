/** Starts commands whose last act is to print the monotonic clock, and says when they did. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compileC } from './compile-c.mjs'

/** The program that prints the time; undefined without a compiler. */
export function compileStamp() {
  return compileC(fileURLToPath(new URL('stamp.c', import.meta.url)))
}

/** The clock that the stamp prints, milliseconds. */
export function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

/** `stamped` resolves with the time that was printed, `ended` with the time of the exit. Anything but exit 0 rejects. */
export function startStamped([file, ...args], options = {}) {
  const startedMs = monotonicMs()
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let output = ''
  let complaint = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve(monotonicMs())
      else reject(new Error(`${file} ${args.join(' ')}: ${signal ?? code} ${complaint}`))
    })
  })
  const stamped = ended.then(() => Number(output) / 1e6)
  stamped.catch(() => {})
  return { pid: child.pid, child, startedMs, stamped, ended }
}

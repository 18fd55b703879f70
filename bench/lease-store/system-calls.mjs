/**
 * The system calls of one operation, ours beside the C program's: `strace -c -f` of a run with n calls of it and of a
 * run with none, and the difference divided by n. What belongs to starting a program cancels out.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freshFolder } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'

const TRACED = fileURLToPath(new URL('traced.mjs', import.meta.url))
const OPERATIONS = ['verify', 'renew', 'refused', 'pairs']
const TITLES = { pairs: 'claim and release' }
/** Below this a call belongs to Node's own threads (collecting garbage, compiling), not to the operation. */
const NOISE = 0.02

export async function countSystemCalls({ program, parent, calls, json }) {
  if (spawnSync('strace', ['-V']).status !== 0) {
    process.stderr.write('strace is not installed: nothing counted\n')
    return
  }
  const counted = []
  for (const operation of OPERATIONS) {
    const n = operation === 'pairs' ? Math.ceil(calls / 10) : calls
    const ours = perCall(n, (count) => [process.execPath, [TRACED, freshFolder(parent), operation, count]])
    const c =
      program === undefined
        ? {}
        : perCall(n, (count) => [
            program,
            [freshFolder(parent)],
            `hold held\n${operation} ${keyFor(operation)} ${count}\n`
          ])
    counted.push({ operation, calls: n, ours, c })
  }
  if (json) {
    process.stdout.write(`${JSON.stringify(counted, undefined, 2)}\n`)
    return
  }
  for (const { operation, ours, c } of counted) process.stdout.write(`${report(operation, ours, c)}\n\n`)
}

function keyFor(operation) {
  return operation === 'pairs' ? 'other' : 'held'
}

function perCall(n, commandOf) {
  const none = trace(commandOf(0))
  const some = trace(commandOf(n))
  const each = {}
  for (const [name, calls] of Object.entries(some)) {
    const count = (calls - (none[name] ?? 0)) / n
    if (count > NOISE) each[name] = Math.round(count * 100) / 100
  }
  return each
}

function trace([program, args, input = '']) {
  const output = join(freshFolder('/tmp'), 'counts')
  const run = spawnSync('strace', ['-c', '-f', '-o', output, program, ...args.map(String)], {
    input,
    encoding: 'utf8'
  })
  if (run.status !== 0) throw new Error(`${program} under strace: ${run.stderr}`)
  const counts = {}
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    const match = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$/.exec(line)
    if (match !== null && match[2] !== 'total') counts[match[2]] = Number(match[1])
  }
  return counts
}

function report(operation, ours, c) {
  const names = [...new Set([...Object.keys(c), ...Object.keys(ours)])]
  const sum = (each) => Object.values(each).reduce((total, count) => total + count, 0)
  return table(
    [TITLES[operation] ?? operation, 'ours', 'C'],
    [
      ...names.map((name) => [`  ${name}`, ours[name] ?? 0, c[name] ?? 0]),
      ['  all', sum(ours).toFixed(2), sum(c).toFixed(2)]
    ]
  )
}

/**
 * A stand-in for the builds that came before: waits for the lock inside the kernel, judges by the wall clock and by 15
 * seconds, knows none of the newer fields. `older-build.mjs ROOT KEY NAME LOG look|claim PAUSE_MS`. Ends at the end of stdin.
 */
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtFile } from '../measuring/packages.mjs'
import { monotonicMs } from '../measuring/stamp.mjs'

const [root = '', key = '', name = '', log = '', mode = 'look', pause = '10'] = process.argv.slice(2)
const { flockSync } = createRequire(builtFile('packages/lease-store/dist/index.js'))('fs-ext')
const stem = `${root}/leases/${key}`
const TTL_MS = 15_000
const owner = randomUUID()

process.stdin.resume()
process.stdin.once('end', () => process.exit())
for (;;) {
  if (mode === 'look') underLock(readLease)
  else await oneTurn()
  await sleep(Number(pause))
}

async function oneTurn() {
  const invoked = monotonicMs()
  const record = underLock(claim)
  if (record === undefined) return
  const { claim_id: claimId, epoch } = record
  note({
    what: 'granted',
    claim: claimId,
    epoch,
    ttlMs: TTL_MS,
    sinceMs: invoked,
    invoked,
    at: monotonicMs()
  })
  await sleep(2)
  note({ what: 'releasing', claim: claimId, at: monotonicMs() })
  const releasing = monotonicMs()
  const released = underLock(() => release(claimId))
  note({ what: released ? 'released' : 'lost', claim: claimId, invoked: releasing, at: monotonicMs() })
}

function underLock(section) {
  const descriptor = openSync(`${stem}.lock`, 'a')
  try {
    flockSync(descriptor, 'ex')
    return section()
  } finally {
    closeSync(descriptor)
  }
}

function readLease() {
  try {
    return JSON.parse(readFileSync(`${stem}.lease.json`, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    return { epoch: 0, renewed_at_ms: Date.now() }
  }
}

function claim() {
  const before = readLease()
  if (before !== undefined && Date.now() - before.renewed_at_ms < TTL_MS && !isDead(before)) return undefined
  const epoch = Math.max(readCounter(), before?.epoch ?? 0) + 1
  replace(`${stem}.epoch`, `${epoch}\n`)
  const now = Date.now()
  const record = {
    instance_id: key,
    owner_boot_id: owner,
    block_id: 'older',
    session_id: null,
    pid: process.pid,
    acquired_at_ms: now,
    renewed_at_ms: now,
    epoch,
    hostname: hostname().trim().toLowerCase(),
    pid_start_s: 1_700_000_000,
    channel: 'older',
    version: '0.9.0',
    claim_id: randomUUID()
  }
  replace(`${stem}.lease.json`, `${JSON.stringify(record, undefined, 2)}\n`)
  return record
}

function release(claimId) {
  if (readLease()?.claim_id !== claimId) return false
  unlinkSync(`${stem}.lease.json`)
  return true
}

/** `pid_start_s` is 0 in ours, which is no proof of anything. */
function isDead({ pid }) {
  if (!pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function readCounter() {
  try {
    return Number(readFileSync(`${stem}.epoch`, 'utf8'))
  } catch {
    return 0
  }
}

function replace(path, text) {
  writeFileSync(`${path}.tmp`, text)
  renameSync(`${path}.tmp`, path)
}

function note(event) {
  if (log !== '') appendFileSync(log, `${JSON.stringify({ process: name, key, ...event })}\n`)
}

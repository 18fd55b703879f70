/**
 * One of the processes under stress: claims, renews, verifies, lets its lease run out, releases, while its own wall clock
 * jumps, and writes down each call and its answer in one append. `worker.mjs ROOT KEY NAME LOG SEED TTL STEPS`; STEPS 0
 * leaves the clock alone. Ends at the end of stdin.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadPackage } from '../measuring/packages.mjs'
import { seededRandom } from '../measuring/seeded-random.mjs'
import { monotonicMs } from '../measuring/stamp.mjs'

const [root = '', key = '', name = '', log = '', seed = '', ttl = '', steps = '1'] = process.argv.slice(2)
const ttlMs = Number(ttl)
const random = seededRandom(Number(seed))
const [{ LeaseStore }, { createSystemClock }] = await Promise.all([
  loadPackage('lease-store'),
  loadPackage('lease-model')
])
const SECOND_MS = 1_000
const YEAR_MS = 365 * 24 * 3_600 * SECOND_MS
const STEPS_MS = [2 * SECOND_MS, 180 * SECOND_MS, 20 * YEAR_MS]
const clock = createSystemClock()
let wallOffMs = 0
const store = LeaseStore.open(root, { ttlMs, clock: { ...clock, wallMs: () => Date.now() + wallOffMs } })

process.stdin.resume()
process.stdin.once('end', () => process.exit())
for (let turn = 1; ; turn++) await oneTurn(turn)

async function oneTurn(turn) {
  const sinceMs = monotonicMs()
  const lease = await granted(sinceMs, `${name}-${turn}`)
  const claim = lease.claimId
  if (turn === 1) process.stdout.write('first turn\n')
  for (let left = Math.floor(random() * 5); left > 0; left--) {
    stepClock()
    if (random() < 0.02) await sleep(ttlMs * (0.8 + random()))
    else if (random() < 0.3) await sleep(random() * 10)
    const renewing = random() < 0.5
    const outcome = await call(() => (renewing ? store.renew(lease) : store.verify(lease)), { claim })
    if (outcome?.kind === 'lost') return
  }
  stepClock()
  note({ what: 'releasing', claim, at: monotonicMs() })
  await call(() => store.release(lease), { claim })
  await call(() => store.verify(lease), { claim })
  if (random() < 0.3) await sleep(random() * 20)
}

async function granted(sinceMs, blockId) {
  for (;;) {
    stepClock()
    const result = await call(() => store.claim({ agent: { uid: key }, blockId }), { sinceMs })
    if (result?.kind === 'granted') return result.lease
    if (random() < 0.2) continue
    const signal = AbortSignal.timeout(20 + Math.floor(random() * 1_000))
    await store.waitForRelease(key, { signal }).catch(() => {})
  }
}

/** Makes a call and writes down what came of it. Undefined if it failed. */
async function call(run, { claim, sinceMs }) {
  const invoked = monotonicMs()
  try {
    const result = await run()
    const at = monotonicMs()
    const { kind, lease, holder } = result
    const what = kind === 'not-held' ? 'lost' : kind === 'unknown' ? 'unsure' : kind
    const epoch = (kind === 'granted' ? lease : holder)?.epoch
    note({
      what,
      claim: claim ?? lease?.claimId,
      ...(epoch && { epoch }),
      ...(kind === 'granted' && { ttlMs, sinceMs }),
      invoked,
      at
    })
    return result
  } catch (error) {
    note({ what: 'fault', code: error.code ?? String(error), claim, invoked, at: monotonicMs() })
    return undefined
  }
}

function stepClock() {
  if (steps === '0' || random() > 0.2) return
  const stepMs = STEPS_MS[Math.floor(random() * STEPS_MS.length)] ?? 0
  wallOffMs = random() < 0.3 ? 0 : random() < 0.5 ? stepMs : -stepMs
}

function note(event) {
  appendFileSync(log, `${JSON.stringify({ process: name, key, ...event })}\n`)
}

/** What a look at a key tells. It takes no lock, creates nothing and waits for nobody (R6). */
import type { LookResult } from './lease.js'
import type { LeasePaths } from './lease-paths.js'
import type { LeaseSight } from './lease-sight.js'

/** `ownerBootId`: whose lease does not count; '' if everybody's does. */
export function look(eyes: LeaseSight, paths: LeasePaths, ownerBootId: string): LookResult {
  const sight = eyes.settled(paths.key, paths.lease)
  if (sight.kind === 'missing') {
    eyes.forget(paths.key)
    return { kind: 'free' }
  }
  if (sight.kind === 'record' && ownerBootId !== '' && sight.record.owner_boot_id === ownerBootId) {
    return { kind: 'free' }
  }
  const verdict = eyes.judge(paths.key, paths, sight)
  const holder = eyes.holder(sight)
  switch (verdict.kind) {
    case 'live':
      return { kind: 'held', holder }
    case 'over':
      return { kind: 'over', holder, why: verdict.why }
    case 'watch':
      return { kind: 'unknown', holder, retryAfterMs: verdict.retryAfterMs }
  }
}

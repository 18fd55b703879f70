/** Holders and looks that the tests of the tie-break share. */
import type { LanHolder, LanLook, SilentBecause } from '../src/index.js'

export const AT = 1_700_000_000_000

export function holderAt(hostname: string, acquiredAtMs: number, more: Partial<LanHolder> = {}): LanHolder {
  return {
    place: 'lan',
    hostname,
    channel: 'stable',
    version: '0.44.1',
    pid: 0,
    acquiredAtMs,
    epoch: 0,
    blockId: '',
    claim: `${hostname}-claim`,
    yielding: false,
    peer: { instanceId: hostname, hostname, address: '10.0.0.1', port: 2_000 },
    ...more
  }
}

/** Those who hold and answered; `more` answered that they do not. */
export function looked(holders: readonly LanHolder[], more = 0): LanLook {
  return { holders, answered: holders.length + more, silent: [] }
}

export function silence(hostname = 'barn', why: SilentBecause = 'timed-out'): LanLook {
  return { holders: [], answered: 0, silent: [{ peer: holderAt(hostname, 0).peer, why }] }
}

/** Who counts as alive (R3, R14): from a record, a clock and what is seen of a process, nothing else. */
import { describe, expect, it } from 'vitest'
import { type Evidence, judge, judgeByWatching, recordTtlMs, sameHost } from '../src/judgement.js'
import type { LeaseRecord } from '../src/lease-record.js'
import type { Observation } from '../src/observations.js'
import type { ProcessState } from '../src/process-state.js'
import { ELSEWHERE, HERE, olderRecord, TTL_MS, UID } from './harness/parties.js'

const WALL_MS = 1_700_000_000_000
const BOOT_MS = 50_000_000
const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS

const LIVE = { kind: 'live' }
const DEAD = { kind: 'over', why: 'dead' }
const EXPIRED = { kind: 'over', why: 'expired' }
const NEW_TO_US: Observation = { unchangedForMs: 0, changedSeen: false }
const WATCH = { kind: 'watch', retryAfterMs: TTL_MS }

const GONE: ProcessState = { kind: 'gone' }
const RUNS: ProcessState = { kind: 'alive', startTicks: 777 }

/** What this build writes on HERE, renewed just now. */
function ours(fields: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    ...older(),
    pid: 4_711,
    pid_start_s: 0,
    host_boot_id: HERE.hostBootId,
    pid_ns: HERE.pidNs,
    time_ns: HERE.timeNs,
    pid_start_ticks: 777,
    renewed_boot_ms: BOOT_MS,
    ttl_ms: TTL_MS,
    driver_pid: 0,
    driver_start_ticks: 0,
    ...fields
  }
}

function older(fields: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    ...(olderRecord() as unknown as LeaseRecord),
    instance_id: UID,
    pid: 4_711,
    renewed_at_ms: WALL_MS,
    host_boot_id: '',
    pid_ns: 0,
    time_ns: 0,
    pid_start_ticks: 0,
    renewed_boot_ms: 0,
    ttl_ms: 0,
    driver_pid: 0,
    driver_start_ticks: 0,
    ...fields
  }
}

function evidence(fields: Partial<Evidence> & { process?: ProcessState; seen?: Observation } = {}): Evidence {
  const { process = RUNS, seen = NEW_TO_US, ...rest } = fields
  return {
    host: HERE,
    wallMs: WALL_MS,
    bootMs: BOOT_MS,
    watchOnly: false,
    processState: () => process,
    observe: () => seen,
    ...rest
  }
}

describe('a record of this boot', () => {
  it('lives while its process runs and it was renewed within its TTL', () => {
    expect(judge(ours(), evidence())).toEqual(LIVE)
    expect(judge(ours(), evidence({ bootMs: BOOT_MS + TTL_MS - 1 }))).toEqual(LIVE)
  })

  it('is expired one TTL after its renewal, though its process runs', () => {
    expect(judge(ours(), evidence({ bootMs: BOOT_MS + TTL_MS }))).toEqual(EXPIRED)
  })

  it('is dead as soon as its process is gone, or a zombie', () => {
    expect(judge(ours(), evidence({ process: GONE }))).toEqual(DEAD)
  })

  it('is dead if its pid was given to a process with another start', () => {
    expect(judge(ours(), evidence({ process: { kind: 'alive', startTicks: 778 } }))).toEqual(DEAD)
  })

  it('lives if one of the starts is unknown', () => {
    expect(judge(ours(), evidence({ process: { kind: 'alive', startTicks: 0 } }))).toEqual(LIVE)
    expect(judge(ours({ pid_start_ticks: 0 }), evidence())).toEqual(LIVE)
  })

  it('lives if its pid is unknown, until it expires', () => {
    expect(judge(ours({ pid: 0 }), evidence({ process: GONE }))).toEqual(LIVE)
    expect(judge(ours({ pid: 0 }), evidence({ process: GONE, bootMs: BOOT_MS + TTL_MS }))).toEqual(EXPIRED)
  })

  it('is of this host under whatever name', () => {
    expect(judge(ours({ hostname: 'renamed' }), evidence({ process: GONE }))).toEqual(DEAD)
    expect(sameHost(ours({ hostname: 'renamed' }), HERE)).toBe(true)
  })

  it.each([3, -3, 365 * 24 * 60, -365 * 24 * 60, 30 * 365 * 24 * 60, -30 * 365 * 24 * 60])(
    'is judged the same when the wall clock is %i minutes off',
    (minutes) => {
      const wallMs = WALL_MS + minutes * MINUTE_MS
      expect(judge(ours(), evidence({ wallMs }))).toEqual(LIVE)
      expect(judge(ours(), evidence({ wallMs, bootMs: BOOT_MS + TTL_MS - 1 }))).toEqual(LIVE)
      expect(judge(ours(), evidence({ wallMs, bootMs: BOOT_MS + TTL_MS }))).toEqual(EXPIRED)
      expect(judge(ours(), evidence({ wallMs, process: GONE }))).toEqual(DEAD)
    }
  )

  it('obeys the TTL of the record', () => {
    expect(judge(ours({ ttl_ms: 2_000 }), evidence({ bootMs: BOOT_MS + 2_000 }))).toEqual(EXPIRED)
    expect(judge(ours({ ttl_ms: 60_000 }), evidence({ bootMs: BOOT_MS + 59_999 }))).toEqual(LIVE)
  })

  it('is watched if it claims to be renewed in the future', () => {
    const future = ours({ renewed_boot_ms: BOOT_MS + 1_000_000, renewed_at_ms: WALL_MS + YEAR_MS })
    expect(judge(future, evidence())).toEqual(WATCH)
    expect(judge(future, evidence({ seen: { unchangedForMs: TTL_MS, changedSeen: false } }))).toEqual(EXPIRED)
    expect(judge(future, evidence({ process: GONE }))).toEqual(DEAD)
  })

  it('is not in the future by the little that two readings of a clock differ', () => {
    const renewed = ours({ renewed_boot_ms: BOOT_MS + 20 })
    const observe = () => {
      throw new Error('it was watched')
    }
    expect(judge(renewed, evidence({ observe }))).toEqual(LIVE)
  })
})

describe('a record of another pid namespace of this boot', () => {
  const container = ours({ pid_ns: 4_026_532_999 })

  it('is not dead because its pid does not exist here', () => {
    expect(judge(container, evidence({ process: GONE }))).toEqual(LIVE)
    expect(judge(ours({ pid_ns: 0 }), evidence({ process: GONE }))).toEqual(LIVE)
  })

  it('is dead to those in that namespace, who know its pid there', () => {
    const host = { ...HERE, pidNs: 4_026_532_999, initialPidNs: false }
    const inside = ours({ pid: 0, pid_in_ns: 7, pid_ns: host.pidNs })
    expect(judge(inside, evidence({ host }))).toEqual(LIVE)
    expect(judge(inside, evidence({ host, process: GONE }))).toEqual(DEAD)
    expect(judge(inside, evidence({ host, process: { kind: 'alive', startTicks: 1 } }))).toEqual(DEAD)
    expect(judge(inside, evidence({ process: GONE }))).toEqual(LIVE)
  })

  it('expires by the clock that both share', () => {
    expect(judge(container, evidence({ process: GONE, bootMs: BOOT_MS + TTL_MS }))).toEqual(EXPIRED)
  })
})

describe('a record of another time namespace of this boot', () => {
  const shifted = ours({ time_ns: 4_026_532_777, renewed_at_ms: WALL_MS - YEAR_MS })

  it('is not judged by a boot clock that has another zero', () => {
    expect(judge(shifted, evidence({ bootMs: BOOT_MS * 10 }))).toEqual(WATCH)
    expect(judge(shifted, evidence({ seen: { unchangedForMs: TTL_MS, changedSeen: true } }))).toEqual(EXPIRED)
  })

  it('is not dead because its process seems to have another start', () => {
    expect(judge(shifted, evidence({ process: { kind: 'alive', startTicks: 1 } }))).toEqual(WATCH)
  })

  it('is dead when its process is gone: pids are of the pid namespace', () => {
    expect(judge(shifted, evidence({ process: GONE }))).toEqual(DEAD)
  })
})

describe('a record of another host', () => {
  const remote = ours({ host_boot_id: ELSEWHERE.hostBootId, hostname: ELSEWHERE.hostname })

  it('lives when it looks fresh, whatever runs here', () => {
    expect(judge(remote, evidence({ process: GONE }))).toEqual(LIVE)
  })

  it.each([3, -3, 365 * 24 * 60, -365 * 24 * 60, 30 * 365 * 24 * 60])(
    'is never expired by a wall clock that is %i minutes off, only watched',
    (minutes) => {
      const wallMs = WALL_MS + minutes * MINUTE_MS
      expect(judge(remote, evidence({ wallMs }))).toEqual(WATCH)
    }
  )

  it('lives once it was seen to change, and expires a TTL after the last change', () => {
    const wallMs = WALL_MS + YEAR_MS
    const changed = (unchangedForMs: number): Observation => ({ unchangedForMs, changedSeen: true })
    expect(judge(remote, evidence({ wallMs, seen: changed(0) }))).toEqual(LIVE)
    expect(judge(remote, evidence({ wallMs, seen: changed(TTL_MS - 1) }))).toEqual(LIVE)
    expect(judge(remote, evidence({ wallMs, seen: changed(TTL_MS) }))).toEqual(EXPIRED)
  })

  it('says for how much longer it has to be watched', () => {
    const seen = { unchangedForMs: 4_000, changedSeen: false }
    expect(judge(remote, evidence({ wallMs: 0, seen }))).toEqual({
      kind: 'watch',
      retryAfterMs: TTL_MS - 4_000
    })
  })

  it('that is dated ahead for ever does not hold an agent beyond one TTL', () => {
    const seen = { unchangedForMs: TTL_MS, changedSeen: false }
    const ahead = ours({ ...remote, renewed_at_ms: WALL_MS + 30 * YEAR_MS })
    expect(judge(ahead, evidence({ seen }))).toEqual(EXPIRED)
    expect(judge(ahead, evidence({ seen, wallMs: WALL_MS + 30 * YEAR_MS }))).toEqual(EXPIRED)
  })

  it('with the name of this one is still another: its boot id says so', () => {
    const namesake = ours({ host_boot_id: ELSEWHERE.hostBootId, hostname: HERE.hostname })
    expect(judge(namesake, evidence({ process: GONE }))).toEqual(LIVE)
  })
})

describe('an older build’s record', () => {
  it('of this host is dead when its pid is gone', () => {
    expect(judge(older(), evidence({ process: GONE }))).toEqual(DEAD)
  })

  it('of this host is not dead because its start differs: that moves with the clock', () => {
    expect(judge(older({ pid_start_s: 1 }), evidence({ wallMs: WALL_MS + YEAR_MS }))).toEqual(WATCH)
  })

  it.each([{ hostname: 'elsewhere' }, { hostname: '' }, { pid: 0 }])(
    'with %j is never presumed dead',
    (fields) => {
      expect(judge(older(fields), evidence({ process: GONE }))).toEqual(LIVE)
      expect(judge(older(fields), evidence({ process: GONE, wallMs: WALL_MS + YEAR_MS }))).toEqual(WATCH)
    }
  )

  it('is not presumed dead by one who cannot see all pids', () => {
    const host = { ...HERE, initialPidNs: false }
    expect(judge(older(), evidence({ host, process: GONE }))).toEqual(LIVE)
  })

  it('has the TTL of every older build', () => {
    const seen = (unchangedForMs: number) => ({ unchangedForMs, changedSeen: true })
    expect(judge(older(), evidence({ seen: seen(14_999) }))).toEqual(LIVE)
    expect(judge(older(), evidence({ seen: seen(15_000) }))).toEqual(EXPIRED)
  })
})

describe('on a doubtful file system', () => {
  it('nothing in the record ends a lease: two machines may pass for one', () => {
    const wallMs = WALL_MS + YEAR_MS
    const doubtful = (fields: Parameters<typeof evidence>[0]) =>
      evidence({ wallMs, watchOnly: true, ...fields })
    expect(judge(ours(), doubtful({ process: GONE }))).toEqual(WATCH)
    expect(judge(ours(), doubtful({ bootMs: BOOT_MS * 2 }))).toEqual(WATCH)
    expect(judge(older(), doubtful({ process: GONE }))).toEqual(WATCH)
    expect(judge(ours(), doubtful({ seen: { unchangedForMs: TTL_MS, changedSeen: true } }))).toEqual(EXPIRED)
  })
})

describe('the TTL of a record', () => {
  it.each([
    [0, 15_000],
    [1, 500],
    [500, 500],
    [2_000, 2_000],
    [600_000, 600_000],
    [600_001, 600_000],
    [Number.MAX_SAFE_INTEGER, 600_000]
  ])('%i ms counts as %i ms', (stated, counted) => {
    expect(recordTtlMs(ours({ ttl_ms: stated }))).toBe(counted)
  })
})

describe('watching a file that cannot be read', () => {
  it('is undecided at first sight, live after a change, over after a TTL without one', () => {
    expect(judgeByWatching(TTL_MS, NEW_TO_US)).toEqual(WATCH)
    expect(judgeByWatching(TTL_MS, { unchangedForMs: 1, changedSeen: true })).toEqual(LIVE)
    expect(judgeByWatching(TTL_MS, { unchangedForMs: TTL_MS, changedSeen: false })).toEqual(EXPIRED)
    expect(judgeByWatching(TTL_MS, { unchangedForMs: TTL_MS, changedSeen: true })).toEqual(EXPIRED)
  })
})

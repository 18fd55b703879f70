/**
 * Several computers that start one agent each on its own while no cable leads anywhere, or all at once with the cables in,
 * and what is left of it. Many agents (herds) go through this at the same time, each with its own order of starts.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Contender, contenderOf, decide } from '@agentmux/lan-tier'
import { expect } from 'vitest'
import { Asker } from './asker.js'
import type { LanComputer } from './lan-computer.js'
import { lives } from './processes.js'
import { until } from './until.js'

export interface Herd {
  readonly what: string
  /** Seconds after the first start of the herd, for each computer; undefined: it takes no part. */
  readonly starts: readonly (number | undefined)[]
}

export interface HerdStart extends Contender {
  readonly computer: LanComputer
  readonly pid: number
  readonly blockId: string
}

export interface HerdEnd {
  readonly herd: Herd
  readonly uid: string
  /** Those that were admitted, with what their lease files said before anybody heard of the others. */
  readonly started: readonly HerdStart[]
  /** Whom the rule names over all of them. */
  readonly decided: HerdStart
  readonly left: HerdStart
  /** From the moment the cables were in again. */
  readonly afterMs: number
}

export interface HerdOptions {
  /** Nobody hears of the others at the moment of a start. */
  readonly cablesOut: boolean
}

/** Between two herds, so that each starts when it was planned to. */
const STAGGER_MS = 150
const LOOK_EVERY_MS = 250
/** Tells a hang from a slow machine. */
const HANG_MS = 150_000
/** Long enough for every question to be on its way. */
const LEAD_MS = 1_000

/** A start that is slow may come to the first look at the others before it is answered, and lose there. */
const REFUSED_OR_LOST = /^Agent3 (is already running|lost its single-instance lease: it also runs) /

type Asking = ReadonlyMap<LanComputer, Asker>

/** Resolves when every herd has exactly one left and the children of the others are gone; rejects if one has none. */
export async function runHerds(
  computers: readonly LanComputer[],
  herds: readonly Herd[],
  { cablesOut }: HerdOptions
): Promise<HerdEnd[]> {
  const asking = new Map(computers.map((one) => [one, new Asker(one.host, one.scene)]))
  await allSeeEachOther(asking)
  if (cablesOut) for (const { host } of computers) host.unplug()
  const zeroMs = Date.now() + LEAD_MS
  const begun = await Promise.all(
    herds.map(async (herd, index) => {
      const uid = `herd-${index}-${randomUUID().slice(0, 8)}`
      const beginMs = zeroMs + index * STAGGER_MS
      return { herd, uid, started: await start(asking, { herd, uid, beginMs, allStart: cablesOut }) }
    })
  )
  if (cablesOut) for (const { host } of computers) host.plug()
  const ends = await settled(asking, begun)
  await goOnAlone(asking, ends)
  return ends
}

type HerdBegun = Pick<HerdEnd, 'herd' | 'uid' | 'started'>

async function settled(asking: Asking, begun: readonly HerdBegun[]): Promise<HerdEnd[]> {
  const sinceMs = performance.now()
  const ends: HerdEnd[] = []
  let open = begun
  while (open.length > 0) {
    const running = await runningOn(asking)
    const afterMs = performance.now() - sinceMs
    open = open.filter(({ herd, uid, started }) => {
      // Whoever has given up does not come back, so this is no accident of looking at one after the other.
      const [left, ...others] = started.filter(({ blockId }) => running.has(blockId))
      if (left === undefined) throw new Error(`${herd.what}: nobody is left of ${started.length}`)
      if (others.length > 0) return true
      ends.push({ herd, uid, started, decided: decide(started), left, afterMs })
      return false
    })
    if (afterMs > HANG_MS) throw new Error(`${open.length} of ${begun.length} herds have more than one left`)
    await sleep(LOOK_EVERY_MS)
  }
  return ends
}

/** The others had given up when it was last looked at; it has not followed them, and their children are gone. */
async function goOnAlone(asking: Asking, ends: readonly HerdEnd[]): Promise<void> {
  const running = await runningOn(asking)
  for (const { herd, started, left } of ends) {
    expect(running.has(left.blockId) && lives(left.pid), `${herd.what}: all have given up`).toBe(true)
    const losers = started.filter((one) => one !== left)
    await until(`${herd.what}: the children of the losers are gone`, () =>
      losers.every(({ pid }) => !lives(pid))
    )
  }
}

/** The blocks of the panes that drive an agent now. */
async function runningOn(asking: Asking): Promise<Set<string>> {
  const lists = await Promise.all(
    Array.from(asking.values(), (asker) => asker.ask({ method: 'GET', path: '/api/v1/agents' }))
  )
  const panes = lists.flatMap(({ body }) => body.agents as { block_id: string; state: string }[])
  return new Set(panes.filter(({ state }) => state === 'running').map(({ block_id }) => block_id))
}

async function allSeeEachOther(asking: Asking): Promise<void> {
  for (const [computer, asker] of asking) {
    await until(`${computer.name} sees ${asking.size - 1} others`, async () => {
      const { body } = await asker.ask({ method: 'GET', path: '/api/v1/lan' })
      return body.peer_count === asking.size - 1 || (await sleep(LOOK_EVERY_MS))
    })
  }
}

interface Start {
  readonly herd: Herd
  readonly uid: string
  readonly beginMs: number
  /** Nobody can be refused. */
  readonly allStart: boolean
}

async function start(asking: Asking, { herd, uid, beginMs, allStart }: Start): Promise<HerdStart[]> {
  const started = await Promise.all(
    Array.from(asking, async ([computer, asker], index) => {
      const seconds = herd.starts[index]
      if (seconds === undefined) return []
      const body = { uid, agent: 'Agent3', command: ['sleep', '100000'] }
      const atMs = beginMs + seconds * 1_000
      const opened = await asker.ask({ method: 'POST', path: '/api/v1/agents', body, atMs })
      if (opened.status !== 201) {
        expect(allStart, `${herd.what}: ${computer.name} says ${JSON.stringify(opened.body)}`).toBe(false)
        expect(opened.body.refusal.message).toMatch(REFUSED_OR_LOST)
        return []
      }
      const { pid, block_id: blockId } = opened.body
      return [{ computer, pid, blockId, ...contenderIn(computer, uid) }]
    })
  )
  return started.flat()
}

/** As its lease file has it. */
function contenderIn({ scene }: LanComputer, uid: string): Contender {
  const { acquired_at_ms, hostname, claim_id } = scene.lease(uid)
  return contenderOf({
    acquiredAtMs: Number(acquired_at_ms),
    hostname: String(hostname),
    claimId: claim_id
  })
}

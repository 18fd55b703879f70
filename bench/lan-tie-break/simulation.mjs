/**
 * Rounds of a tie-break on a simulated network: every host drives the agent, then all look, with answers that take time and
 * get lost. The decisions are the built package's own; only time and the network are simulated.
 */
import { seededRandom } from '../measuring/seeded-random.mjs'
import { EventQueue } from './event-queue.mjs'

/** A question and its answer, one way each, milliseconds. */
const LATENCY_MS = [1, 20]
const TIMEOUT_MS = 1_500
/** All re-checks of a round begin within this: the worst case, as after a cable is plugged in again. */
const TOGETHER_MS = 500
const EVERY_MS = 30_000

/** Starts in one instant, within 10 s, or around the border where the pairwise rule goes in circles. */
function startsOf(hosts, random) {
  const spreadMs = [0, 9_000, 14_000, 25_000][Math.floor(random() * 4)]
  return Array.from({ length: hosts }, () => 1_700_000_000_000 + Math.floor(random() * spreadMs))
}

/** Host names in every order; now and then two of one name. */
function namesOf(hosts, random) {
  const names = Array.from({ length: hosts }, (_, at) => `host${at}`)
  for (let at = hosts - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[names[at], names[other]] = [names[other], names[at]]
  }
  if (random() < 0.1) names[0] = names[hosts - 1]
  return names
}

/**
 * Runs one round; resolves with how many still drive the agent after each of `rechecks` re-checks.
 *
 * `older`: how many members keep the pairwise rule and yield at once. `rule`: `ours`, or `no flag` (nobody says that it is
 * about to yield), or `no second look` (decided over the set, but yielding at once).
 */
export function simulateRound(
  { Contest, decide, peerWins },
  { hosts, older = 0, rule = 'ours', loss = 0.2, rechecks = 3, seed }
) {
  const random = seededRandom(seed)
  const starts = startsOf(hosts, random)
  const names = namesOf(hosts, random)
  const members = starts.map((acquiredAtMs, at) => ({
    acquiredAtMs,
    hostname: names[at],
    claim: Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(64, '0'),
    peer: { instanceId: `i${at}`, hostname: names[at], address: `10.0.0.${at}`, port: 2_000 },
    held: true,
    yielding: false,
    older: at < older
  }))
  const queue = new EventQueue()

  /** Asks these and calls back with the look, when the last answer or the time-out is there. */
  const ask = (asker, asked, callback) => {
    const look = { holders: [], answered: 0, silent: [] }
    let doneMs = queue.nowMs
    for (const member of asked) {
      const lost = random() < loss
      const latency = () => LATENCY_MS[0] + random() * (LATENCY_MS[1] - LATENCY_MS[0])
      const [there, back] = [latency(), latency()]
      doneMs = Math.max(doneMs, queue.nowMs + (lost ? TIMEOUT_MS : there + back))
      if (lost) {
        look.silent.push({ peer: member.peer, why: 'timed-out' })
        continue
      }
      queue.at(queue.nowMs + there, () => {
        // An older build takes whoever has its own host name for itself, and so do we with it.
        const unseen = (asker.older || member.older) && asker.hostname === member.hostname
        look.answered++
        if (!member.held || unseen) return
        const { acquiredAtMs, hostname, claim, peer } = member
        const yielding = rule === 'ours' && !member.older && member.yielding
        look.holders.push({ acquiredAtMs, hostname, claim: member.older ? '' : claim, peer, yielding })
      })
    }
    queue.at(doneMs, () => callback(look))
  }

  const others = (me) => members.filter((member) => member !== me)

  const olderLook = (me) =>
    ask(me, others(me), (look) => {
      const beaten = ({ acquiredAtMs, hostname }) =>
        peerWins(acquiredAtMs, hostname, me.acquiredAtMs, me.hostname)
      if (me.held && look.holders.some(beaten)) me.held = false
    })

  const hastyLook = (me) =>
    ask(me, others(me), (look) => {
      if (me.held && decide([me, ...look.holders]) !== me) me.held = false
    })

  const ourLook = (me) => {
    const contest = new Contest(me, random)
    const act = (step) => {
      if (step.kind === 'done') {
        if (step.outcome.kind === 'yield') me.held = false
        me.yielding = false
        return
      }
      me.yielding = false
      queue.at(queue.nowMs + step.waitMs, () => {
        me.yielding = true
        const asked = members.filter(({ peer }) => peer.instanceId === step.at.peer.instanceId)
        ask(me, asked, (look) => act(contest.seenAgain(look)))
      })
    }
    ask(me, others(me), (look) => {
      if (look.silent.length === 0) return act(contest.seen(look))
      // Whoever did not answer is asked once more, as the package does.
      const late = members.filter(({ peer }) => look.silent.some((silent) => silent.peer === peer))
      ask(me, late, (again) => {
        act(
          contest.seen({
            holders: [...look.holders, ...again.holders],
            answered: look.answered + again.answered,
            silent: again.silent
          })
        )
      })
    })
  }

  const survivors = []
  for (let recheck = 0; recheck < rechecks; recheck++) {
    for (const member of members) {
      const dueMs = recheck * EVERY_MS + random() * TOGETHER_MS
      queue.at(dueMs, () => {
        if (!member.held) return
        if (member.older) olderLook(member)
        else if (rule === 'no second look') hastyLook(member)
        else ourLook(member)
      })
    }
    queue.runUntil((recheck + 1) * EVERY_MS)
    survivors.push(members.filter(({ held }) => held).length)
  }
  return survivors
}

/** Many rounds: how often nobody was left, and how often two or more, after each re-check. */
export function simulateRounds(rules, { rounds, seed, ...options }) {
  const { rechecks = 3 } = options
  const nobody = new Array(rechecks).fill(0)
  const several = new Array(rechecks).fill(0)
  for (let round = 0; round < rounds; round++) {
    const survivors = simulateRound(rules, { ...options, rechecks, seed: seed + round })
    for (const [recheck, left] of survivors.entries()) {
      if (left === 0) nobody[recheck]++
      if (left > 1) several[recheck]++
    }
  }
  return { rounds, nobody, several }
}

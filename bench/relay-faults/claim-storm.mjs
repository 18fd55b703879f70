/**
 * Clients that claim and release a few agents as fast as they can, while somebody breaks what they claim from, and the
 * judgement of it. A client believes that it holds from the answer to its claim until it asks to release, at most one TTL
 * from the asking. Wrong is: two that believe it of one agent at once, or an epoch that is given to a second claim.
 * Not to be answered is not wrong: an unanswered call is repeated until it is answered.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const MAX_HOLD_MS = 4
const PAUSE_MS = 20

/**
 * @param {{ claim: Function, release: Function }[]} clients each of another holder
 * @param {{ claims: number, agents: string[], ttlMs: number, onClaim?: (count: number) => void }} options
 */
export async function claimStorm(clients, { claims, agents, ttlMs, onClaim = () => {} }) {
  const audit = new Audit(ttlMs)
  const seen = { claims: 0, granted: 0, refused: 0, unavailable: 0, longestMs: 0 }
  const calls = async (call) => {
    for (let tries = 0; ; tries++) {
      const beganMs = performance.now()
      const answer = await call()
      seen.longestMs = Math.max(seen.longestMs, performance.now() - beganMs)
      if (answer.kind !== 'unavailable') return answer
      seen.unavailable++
      await sleep(Math.random() * PAUSE_MS * Math.min(tries + 1, 10))
    }
  }
  const work = async (client, index) => {
    while (seen.claims < claims) {
      const agent = agents[Math.floor(Math.random() * agents.length)]
      onClaim(++seen.claims)
      let askedMs = 0
      const answer = await calls(() => {
        askedMs = performance.now()
        return client.claim(agent)
      })
      if (answer.kind === 'refused') {
        seen.refused++
        await sleep(Math.random() * PAUSE_MS)
        continue
      }
      seen.granted++
      const belief = audit.begin({ agent, client: index, epoch: answer.epoch, askedMs })
      await sleep(Math.random() * MAX_HOLD_MS)
      audit.end(belief)
      await calls(() => client.release(agent))
    }
  }
  const beganMs = performance.now()
  await Promise.all(clients.map(work))
  return { ...seen, seconds: (performance.now() - beganMs) / 1_000, violations: audit.violations }
}

class Audit {
  violations = []
  #ttlMs
  /** Who believes to hold an agent now. */
  #believing = new Map()
  #epochs = new Map()

  constructor(ttlMs) {
    this.#ttlMs = ttlMs
  }

  begin(belief) {
    const { agent, epoch, client } = belief
    const others = this.#believing.get(agent) ?? new Set()
    for (const other of others) {
      if (performance.now() - other.askedMs < this.#ttlMs) {
        this.violations.push(
          `${agent}: client ${client} (epoch ${epoch}) while client ${other.client} (epoch ${other.epoch})`
        )
      }
    }
    this.#believing.set(agent, others.add(belief))
    const epochs = this.#epochs.get(agent) ?? new Set()
    if (epochs.has(epoch)) this.violations.push(`${agent}: epoch ${epoch} was given twice`)
    if (epoch < Math.max(0, ...[...epochs].slice(-1)))
      this.violations.push(`${agent}: epoch ${epoch} after a higher one`)
    this.#epochs.set(agent, epochs.add(epoch))
    return belief
  }

  end(belief) {
    this.#believing.get(belief.agent)?.delete(belief)
  }
}

/** What must be true after a process was killed, or a call failed, in the middle of an operation. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseStore } from '../../src/index.js'
import type { Answer, Child } from '../harness/child.js'
import { claimBy, KEY, type Scenario, STORE, type Stage } from './scenarios.js'

export interface Outcome {
  readonly stage: Stage
  readonly root: string
  /** What the victim answered; undefined if it was killed. */
  readonly answer: Answer
}

/** Who must hold the lease now; and the highest epoch that was given. */
interface Expected {
  readonly holder?: Child
  readonly epoch: number
}

/** What is wrong; empty if nothing is. */
export async function wrongAfter(scenario: Scenario, outcome: Outcome): Promise<string[]> {
  const { stage, root, answer } = outcome
  const wrong: string[] = []
  const check = (holds: boolean, otherwise: string) => holds || wrong.push(otherwise)
  if (answer === undefined) await stage.victim.ended()
  check(answer?.kind !== 'thrown' || answer.name === 'LeaseFault', `thrown: ${JSON.stringify(answer)}`)
  const store = LeaseStore.open(root, STORE)
  const onDisk = epochsOnDisk(root)
  const { holder, epoch } = await expected(scenario, stage, answer)
  if (holder !== undefined) {
    check((await holder.do('verify')).kind === 'held', 'the holder lost its lease')
    check((await holder.do('renew')).kind === 'renewed', 'the holder cannot renew')
    const second = await store.claim(claimBy('next'))
    check(second.kind === 'refused' && second.holder.epoch === epoch, `beside it, a claim was ${second.kind}`)
    check((await holder.do('release')).kind === 'released', 'the holder cannot release')
  }
  const next = await store.claim(claimBy('next'))
  if (next.kind === 'granted') {
    const highest = Math.max(epoch, ...onDisk)
    check(next.lease.epoch > highest, `epoch ${next.lease.epoch} was given after ${highest}`)
    check((await store.verify(next.lease)).kind === 'held', 'the next holder does not hold')
  } else wrong.push(`the next claim was ${next.kind}`)
  const names = readdirSync(join(root, 'leases')).sort().join(' ')
  check(names === `${KEY}.epoch ${KEY}.lease.json ${KEY}.lock`, `these files were left: ${names}`)
  return wrong
}

async function expected(scenario: Scenario, stage: Stage, answer: Answer): Promise<Expected> {
  const { victim, holder, epoch } = stage
  if (holder !== undefined) return { holder, epoch }
  if (answer === undefined) return { epoch }
  if (answer.kind === 'granted') return { holder: victim, epoch: answer.lease.epoch }
  if (scenario.operation !== 'release') return scenario.holds ? { holder: victim, epoch } : { epoch }
  // A release that failed can be tried again.
  if (answer.kind === 'thrown') await victim.do('release')
  return { epoch }
}

/** Any of them may have been given; none may be given again. */
function epochsOnDisk(root: string): number[] {
  const files = ['.epoch', '.lease.json'].map((suffix) => {
    try {
      return readFileSync(join(root, 'leases', KEY + suffix), 'utf8')
    } catch {
      return ''
    }
  })
  return [Number(files[0]), Number(/"epoch": (\d+)/.exec(files[1] ?? '')?.[1] ?? 0)]
}

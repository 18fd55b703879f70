/** A place on a host where a daemon runs, and what people want of it. */
import type { Process } from '../kernel/process.js'
import type { Thread } from '../kernel/thread.js'
import type { Answer, Question, System } from '../programs/system.js'

/** The daemon in it is started again when it has died. */
export interface Seat {
  readonly index: number
  process: Process | undefined
  orders: System['orders']
  answer: ((question: Question) => Promise<Answer>) | undefined
  thread: Thread | undefined
  readonly wants: Set<string>
  /** What people ever wanted to run here, and to move here from elsewhere. */
  readonly asked: Set<string>
  readonly taken: Set<string>
}

export function emptySeat(index: number): Seat {
  return {
    index,
    process: undefined,
    orders: {},
    answer: undefined,
    thread: undefined,
    wants: new Set(),
    asked: new Set(),
    taken: new Set()
  }
}

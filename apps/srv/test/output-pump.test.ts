/** What a child says, on its way into the record: in order, not faster than the disk, and honest about what is missing. */
import { PassThrough } from 'node:stream'
import { type RecordEvent, RecordFault } from '@agentmux/host-admission'
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, test } from 'vitest'
import { OutputPump } from '../src/panes/output-pump.js'

const full = (appendedLines = 0) =>
  new RecordFault('the disk is full', { code: 'io', path: '/record', errno: 'ENOSPC', appendedLines })

/** A pump into a list, whose appends can be made to fail. */
function scene() {
  const clock = createManualClock()
  const stream = new PassThrough()
  const stored: RecordEvent[] = []
  const faults: unknown[] = []
  const turnedAway: unknown[] = []
  let answer: (events: readonly RecordEvent[]) => 'appended' | 'lost' | Error = () => 'appended'
  const pump = new OutputPump('stdout', stream, {
    clock,
    append: async (events) => {
      const given = answer(events)
      if (given instanceof RecordFault) stored.push(...events.slice(0, given.appendedLines))
      if (given instanceof Error) throw given
      if (given === 'lost') return { kind: 'rejected', highestEpoch: 9 }
      stored.push(...events)
      return { kind: 'appended', position: 0, next: 1 }
    },
    onTurnedAway: (result) => turnedAway.push(result),
    onFault: (fault) => faults.push(fault)
  })
  /** Lets time pass until something is so. */
  const until = async (so: () => boolean) => {
    for (let times = 0; !so(); times++) {
      if (times > 10_000) throw new Error('it never is')
      await clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const answers = (next: typeof answer) => {
    answer = next
  }
  const text = () => stored.map((event) => event.text ?? '').join('')
  return { clock, stream, pump, stored, faults, turnedAway, until, answers, text }
}

describe('the output of a child', () => {
  test('is stored whole, whatever the pieces it comes in', async () => {
    const { stream, pump, text, until } = scene()
    const bytes = Buffer.from('grüße \u{1F600}\n'.repeat(5_000))
    for (let at = 0; at < bytes.length; at += 7_001) stream.write(bytes.subarray(at, at + 7_001))
    stream.end()
    let done = false
    void pump.done.then(() => {
      done = true
    })
    await until(() => done)
    expect(text()).toBe(bytes.toString())
  })

  test('waits for a disk that is full, and nothing is stored twice', async () => {
    const { stream, faults, answers, text, until } = scene()
    let failures = 3
    answers((events) => (failures-- > 0 ? full(events.length > 1 ? 1 : 0) : 'appended'))
    const said = 'x'.repeat(20_000)
    stream.write(said)
    await until(() => text().length === said.length)
    expect(text()).toBe(said)
    expect(faults).toHaveLength(3)
  })

  test('is read no further while it cannot be stored', async () => {
    const { stream, faults, answers, until } = scene()
    answers(() => full())
    stream.write('first')
    await until(() => faults.length > 2)
    let blocked = false
    for (let times = 0; times < 100 && !blocked; times++) blocked = !stream.write('y'.repeat(10_000))
    expect(blocked).toBe(true)
    expect(stream.readableLength + stream.writableLength).toBeGreaterThan(0)
  })

  test('is dropped when the disk stays full, and the record says how much is missing', async () => {
    const { stream, clock, faults, answers, stored, until } = scene()
    answers(() => full())
    stream.write('lost')
    const startedMs = clock.bootMs()
    await until(() => clock.bootMs() - startedMs > 40_000 && faults.length > 10)
    answers(() => 'appended')
    stream.write('kept')
    await until(() => stored.length > 0)
    expect(stored).toEqual([
      { kind: 'output-dropped', stream: 'stdout', characters: 4 },
      { kind: 'output', stream: 'stdout', text: 'kept' }
    ])
  })

  test('goes nowhere once the record has turned it away, and is read to its end all the same', async () => {
    const { stream, pump, turnedAway, answers, stored, until } = scene()
    answers(() => 'lost')
    stream.write('late')
    await until(() => turnedAway.length > 0)
    answers(() => 'appended')
    stream.end('later'.repeat(50_000))
    let done = false
    void pump.done.then(() => {
      done = true
    })
    await until(() => done)
    expect(stored).toEqual([])
    expect(turnedAway).toHaveLength(1)
  })

  test('is not waited for once the pump is closed', async () => {
    const { pump, stored } = scene()
    pump.close()
    await pump.done
    expect(stored).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { parseStat, readStat, startTicksOf } from '../src/process-stat.js'

interface Fields {
  name?: string
  state?: string
  threads?: number
  memory?: number
  begin?: number
  end?: number
}

/** A line of /proc/PID/stat with 52 fields. */
function line({ name = 'node', state = 'S', threads = 1, memory = 4096, begin = 100, end = 200 }: Fields) {
  const fields = Array.from({ length: 50 }, () => '0')
  const set = (number: number, value: number | string) => {
    fields[number - 3] = String(value)
  }
  set(3, state)
  set(4, 77)
  set(5, 88)
  set(20, threads)
  set(22, 99)
  set(23, memory)
  set(50, begin)
  set(51, end)
  return `4242 (${name}) ${fields.join(' ')}\n`
}

describe('a line of /proc/PID/stat', () => {
  it('names the parent, the group and the start', () => {
    expect(parseStat(line({}))).toMatchObject({ parentPid: 77, groupId: 88, startTicks: 99 })
  })

  it('is read right whatever the process is called', () => {
    expect(parseStat(line({ name: 'a) R 1 1 (b' }))).toMatchObject({ parentPid: 77, startTicks: 99 })
  })

  it('says that a zombie is gone, but not one whose other threads run on', () => {
    expect(parseStat(line({ state: 'Z' }))).toBeUndefined()
    expect(parseStat(line({ state: 'X' }))).toBeUndefined()
    expect(parseStat(line({ state: 'Z', threads: 2 }))).toMatchObject({ headless: true })
  })

  it('tells a stopped process from one that waits for a disk', () => {
    expect(parseStat(line({ state: 'T' }))).toMatchObject({ stopped: true, uninterruptible: false })
    expect(parseStat(line({ state: 't' }))).toMatchObject({ stopped: true })
    expect(parseStat(line({ state: 'D' }))).toMatchObject({ stopped: false, uninterruptible: true })
  })

  it('tells an empty environment from one that an exec has not yet put in place', () => {
    expect(parseStat(line({}))?.environment).toBe('set')
    expect(parseStat(line({ end: 100 }))?.environment).toBe('empty')
    expect(parseStat(line({ begin: 0, end: 0 }))?.environment).toBe('unsettled')
    expect(parseStat(line({ begin: 0, end: 0, memory: 0 }))?.environment).toBe('none')
  })
})

it.runIf(process.platform === 'linux')('reads our own', () => {
  expect(readStat(process.pid)).toMatchObject({ parentPid: process.ppid, stopped: false, environment: 'set' })
  expect(startTicksOf(process.pid)).toBe(readStat(process.pid)?.startTicks)
})

it('knows nothing of a process that is not there', () => {
  expect(readStat(2 ** 22)).toBeUndefined()
  expect(startTicksOf(2 ** 22)).toBeUndefined()
})

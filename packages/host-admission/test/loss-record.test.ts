import type { Refusal } from '@agentmux/refusals'
import { lostRefusal } from '@agentmux/refusals'
import { describe, expect, it } from 'vitest'
import { LossRecord } from '../src/loss-record.js'

const agent = { uid: 'agent' }
const first = lostRefusal(agent, 'unconfirmed', 0)
const second = lostRefusal(agent, 'lease-removed', 0)

describe('a loss', () => {
  it('is told once, and keeps its first reason', () => {
    const told: Refusal[] = []
    const loss = new LossRecord(() => {})
    loss.listen((refusal) => told.push(refusal))
    expect(loss.refusal).toBeUndefined()
    loss.record(first)
    loss.record(second)
    expect(told).toEqual([first])
    expect(loss.refusal).toBe(first)
    expect(loss.signal.reason).toBe(first)
  })

  it('is not told to who listens afterwards', () => {
    const told: Refusal[] = []
    const loss = new LossRecord(() => {})
    loss.record(first)
    loss.listen((refusal) => told.push(refusal))
    loss.record(second)
    expect(told).toEqual([])
  })

  it('hands on what the listener throws instead of throwing it', () => {
    const errors: unknown[] = []
    const loss = new LossRecord((error) => errors.push(error))
    loss.listen(() => {
      throw new Error('of the listener')
    })
    loss.record(first)
    expect(errors).toEqual([new Error('of the listener')])
    expect(loss.signal.aborted).toBe(true)
  })
})

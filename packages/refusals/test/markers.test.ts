import { describe, expect, it } from 'vitest'
import { EXIT_CODES, isAdmissionRefusal, REFUSAL_MARKERS } from '../src/index.js'

describe('the markers', () => {
  it('are the three that every build knows', () => {
    expect(REFUSAL_MARKERS).toEqual([
      'is already running in another agentmux instance',
      'was taken over by another agentmux instance',
      'lost its single-instance lease'
    ])
  })

  it.each(REFUSAL_MARKERS)('make a text a refusal, in any case and anywhere: %s', (marker) => {
    expect(isAdmissionRefusal(marker)).toBe(true)
    expect(isAdmissionRefusal(`409: Agent3 ${marker.toUpperCase()} on mill.`)).toBe(true)
  })

  it.each([
    '',
    'is already running',
    'lost its single-instance  lease',
    undefined,
    null,
    7,
    {},
    REFUSAL_MARKERS
  ])('are not in %j', (text) => expect(isAdmissionRefusal(text)).toBe(false))

  it('cannot be changed', () => {
    expect(Object.isFrozen(REFUSAL_MARKERS)).toBe(true)
  })
})

describe('the exit codes', () => {
  it('are the documented ones, for good', () => {
    expect(EXIT_CODES).toEqual({
      usage: 64,
      couldNotFindOut: 69,
      heldElsewhere: 75,
      leaseLost: 76,
      waitRanOut: 124
    })
    expect(Object.isFrozen(EXIT_CODES)).toBe(true)
  })
})

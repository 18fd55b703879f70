/** Names, holders and refusals as hostile as they come: markers, escapes and odd numbers wherever they fit. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import fc from 'fast-check'
import {
  heldRefusal,
  LOSS_REASONS,
  leaseIoRefusal,
  lockStuckRefusal,
  lostRefusal,
  processesRemainRefusal,
  REFUSAL_MARKERS,
  REMAINS_BECAUSE,
  type Refusal,
  takenOverRefusal,
  UNKNOWN_REASONS,
  unknownRefusal,
  waitRanOutRefusal
} from '../src/index.js'

const shreds = REFUSAL_MARKERS.flatMap((marker) => [marker, marker.toUpperCase(), ...marker.split(' ')])
const controls = [
  '\u001b[31m',
  '\u001b]0;t\u0007',
  '\u001b',
  '\u009b',
  '\n',
  '\u0000',
  '\u202e',
  '\u200b',
  '\ud83d',
  '\u212a'
]

/** Text in which markers come up whole, in pieces, and with characters between that may be stripped. */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom(...shreds, ...controls, ' ', '.', 'x'), { maxLength: 20 })
    .map((parts) => parts.join(' ')),
  fc.array(fc.constantFrom(...shreds, ...controls, ' '), { maxLength: 20 }).map((parts) => parts.join(''))
)

export const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger(), fc.constantFrom(0, -0))

export const anyAgent: fc.Arbitrary<AgentRef> = fc.record(
  { uid: fc.stringMatching(/^[ -~]{1,40}$/), name: hostileText },
  { requiredKeys: ['uid'] }
)

export const anyHolder: fc.Arbitrary<Holder> = fc.record({
  place: fc.constantFrom('this-host', 'lan', 'relay'),
  hostname: hostileText,
  channel: hostileText,
  version: hostileText,
  pid: anyNumber,
  acquiredAtMs: anyNumber,
  epoch: anyNumber,
  blockId: hostileText
})

const maybeHolder = fc.option(anyHolder, { nil: undefined })
const retry = fc.record({ retryAfterMs: fc.option(anyNumber, { nil: undefined }) })
const path = hostileText
const process = fc.record({
  pid: anyNumber,
  command: hostileText,
  because: fc.constantFrom(...REMAINS_BECAUSE)
})
const locking = fc.record({ pid: fc.nat(), command: hostileText, stopped: fc.boolean() })

export const anyRefusal: fc.Arbitrary<Refusal> = fc.oneof(
  fc.tuple(anyAgent, anyHolder, anyNumber, retry).map((of) => heldRefusal(...of)),
  fc.tuple(anyAgent, maybeHolder, anyNumber, retry).map((of) => takenOverRefusal(...of)),
  fc
    .tuple(
      anyAgent,
      fc.constantFrom(...LOSS_REASONS),
      anyNumber,
      fc.record({ holder: maybeHolder, detail: hostileText })
    )
    .map((of) => lostRefusal(...of)),
  fc
    .tuple(
      anyAgent,
      anyNumber,
      anyNumber,
      fc.record({ holder: maybeHolder, reason: fc.constantFrom(...UNKNOWN_REASONS, undefined) })
    )
    .map((of) => unknownRefusal(...of)),
  fc
    .tuple(anyAgent, fc.record({ path, code: hostileText, text: hostileText }), retry)
    .map((of) => leaseIoRefusal(...of)),
  fc
    .tuple(anyAgent, path, fc.option(locking, { nil: undefined }))
    .map(([agent, at, by]) => lockStuckRefusal(agent, at, { process: by })),
  fc.tuple(anyAgent, fc.array(process, { maxLength: 40 }), retry).map((of) => processesRemainRefusal(...of)),
  fc
    .tuple(anyAgent, anyNumber, anyNumber, fc.record({ holder: maybeHolder }))
    .map((of) => waitRanOutRefusal(...of))
)

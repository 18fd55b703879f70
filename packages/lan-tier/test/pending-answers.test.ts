/** Answers are gathered, made needless, and never repeated within a second. */
import { createManualClock } from '@agentmux/lease-model/testing'
import { expect, test } from 'vitest'
import { type AnswerKind, PendingAnswers } from '../src/discovery/pending-answers.js'

function pending() {
  const clock = createManualClock()
  const sent: string[] = []
  const send = (kinds: ReadonlySet<AnswerKind>) => void sent.push([...kinds].join(' '))
  return { clock, sent, answers: new PendingAnswers({ clock, random: () => 0.5, send }) }
}
const from = (name: string, moreToCome = false) => ({ from: name, moreToCome })

test('several questions get one answer', async () => {
  const { clock, sent, answers } = pending()
  answers.ask(['ptr'], from('a'))
  answers.ask(['srv', 'txt'], from('b'))
  answers.ask(['ptr'], from('c'))
  await clock.advance(120)
  expect(sent).toEqual(['ptr srv txt'])
})

test('ten thousand questions in a second get one answer, and then one a second', async () => {
  const { clock, sent, answers } = pending()
  for (let i = 0; i < 10_000; i++) {
    answers.ask(['ptr'], from(`10.0.${i >> 8}.${i & 255}`))
    if (i % 10 === 0) await clock.advance(1)
  }
  await clock.advance(120)
  expect(sent.length).toBe(1)
  await clock.advance(1_000)
  answers.ask(['ptr'], from('a'))
  await clock.advance(120)
  expect(sent.length).toBe(2)
})

test('who says that it knows us is not answered; who else asked, is', async () => {
  const { clock, sent, answers } = pending()
  answers.ask(['ptr'], from('a', true))
  answers.known('a')
  await clock.advance(600)
  expect(sent).toEqual([])
  answers.ask(['ptr'], from('a', true))
  answers.ask(['ptr'], from('b'))
  answers.known('a')
  await clock.advance(600)
  expect(sent).toEqual(['ptr'])
})

test('a name is defended at once, four times a second at most', async () => {
  const { clock, sent, answers } = pending()
  for (let i = 0; i < 100; i++) {
    answers.defend(['srv', 'txt'])
    await clock.advance(10)
  }
  expect(sent.length).toBe(4)
})

test('cancelled, it leaves no timer', () => {
  const { clock, answers } = pending()
  answers.ask(['ptr'], from('a'))
  answers.cancel()
  expect(clock.pendingTimers).toBe(0)
})

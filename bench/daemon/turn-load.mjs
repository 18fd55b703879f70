/**
 * Sends turns at a fixed rate, whether the ones before were answered or not, to one pane after the other. Latency counts
 * from the moment a turn was due, so that a stall costs every turn that came due in it.
 */

/** Answers still missing this long after the last turn count as errors. */
const PATIENCE_MS = 30_000
const TURN =
  'a turn of a hundred characters, which is about as much as a person types before pressing return: '

/** `skipSeconds` at the beginning are sent and not counted; `onCounted` is called when they are over. */
export function sendTurns(daemon, { blockIds, rate, seconds, skipSeconds, onCounted }) {
  const skipped = Math.round(rate * skipSeconds)
  const total = skipped + Math.round(rate * seconds)
  const latencyMs = new Float64Array(total - skipped).fill(Number.NaN)
  const lateMs = new Float64Array(total - skipped)
  const answers = new Map()
  const bodies = blockIds.map((blockId) => `/api/v1/agents/${encodeURIComponent(blockId)}/turns`)
  let sent = 0
  let answered = 0
  let lastAnswerMs = Number.NaN
  return new Promise((resolve) => {
    const startMs = performance.now() + 10
    const dueMs = (index) => startMs + (index * 1_000) / rate

    const finish = () => {
      clearTimeout(patience)
      const missing = total - answered
      if (missing > 0) answers.set('no answer', missing)
      resolve({
        latencyMs: latencyMs.filter((one) => !Number.isNaN(one)),
        lateMs,
        answers: Object.fromEntries(answers),
        perSecond: (latencyMs.length * 1_000) / (lastAnswerMs - dueMs(skipped))
      })
    }
    const note = (index, outcome) => {
      const nowMs = performance.now()
      answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
      if (index >= skipped && outcome === '200') {
        latencyMs[index - skipped] = nowMs - dueMs(index)
        lastAnswerMs = nowMs
      }
      if (++answered === total) finish()
    }
    const send = (index) => {
      if (index === skipped) onCounted()
      if (index >= skipped) lateMs[index - skipped] = performance.now() - dueMs(index)
      let told = false
      daemon.ask('POST', bodies[index % bodies.length], { text: `${TURN}${index}` }, ({ error, status }) => {
        if (told) return
        told = true
        note(index, error === undefined ? String(status) : (error.code ?? error.message))
      })
    }
    let patience
    const tick = () => {
      for (const nowMs = performance.now(); sent < total && dueMs(sent) <= nowMs; ) send(sent++)
      if (sent < total) setTimeout(tick, 1)
      else if (answered < total) patience = setTimeout(finish, PATIENCE_MS)
    }
    setTimeout(tick, 10)
  })
}

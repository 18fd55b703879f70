/** A signal that is aborted when the client goes away before it has its answer: nobody waits for it any more. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that was stopped reads the request first, and that its sender has gone since a few turns later. */
const NEWS_MS = 25

export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.destroyed) controller.abort(goneError())
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(goneError())
  })
  return controller.signal
}

/** The same, once it is known of a client that has gone before we came to read. For what must not be done for nobody. */
export async function clientGoneByNow(response: ServerResponse): Promise<AbortSignal> {
  const gone = clientGone(response)
  await sleep(NEWS_MS)
  return gone
}

function goneError(): Error {
  return new Error('the client went away')
}

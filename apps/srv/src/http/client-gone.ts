/** A signal that is aborted when the client goes away before it has its answer: nobody waits for it any more. */
import type { ServerResponse } from 'node:http'

export function clientGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.destroyed) controller.abort(goneError())
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(goneError())
  })
  return controller.signal
}

function goneError(): Error {
  return new Error('the client went away')
}

/** The body of an answer that goes on, as undici gives it: read piece by piece, ended by destroying it. */
import type { Thread } from '../kernel/thread.js'
import type { NetPipe } from '../world/net-pipe.js'

export interface StreamWay {
  readonly pipe: NetPipe
  readonly isLost: () => boolean
}

type Result = { readonly done: boolean; readonly value: Uint8Array | undefined }
interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (fault: unknown) => void
}

const DONE: Result = { done: true, value: undefined }

export function eventStream(thread: Thread, { pipe, isLost }: StreamWay) {
  const { sandbox } = thread
  const pieces: Uint8Array[] = []
  let ended: { readonly fault: string | undefined } | undefined
  let waiting: Waiting | undefined

  function settle(): void {
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    const value = pieces.shift()
    if (value === undefined && ended === undefined) return
    waiting = undefined
    if (value !== undefined) resolve({ done: false, value })
    else if (ended?.fault === undefined) resolve(DONE)
    else reject(Object.assign(new sandbox.Error(ended.fault), { code: ended.fault }))
  }

  function end(fault: string | undefined): void {
    ended ??= { fault }
    settle()
  }

  pipe.connect({
    thread,
    isLost,
    onPiece: (text) => {
      pieces.push(Buffer.from(text))
      settle()
    },
    onEnd: end
  })

  const body = {
    on: () => body,
    destroy() {
      if (ended === undefined) pipe.leave()
      pieces.length = 0
      end('ERR_STREAM_PREMATURE_CLOSE')
      return body
    },
    dump: () => sandbox.Promise.resolve(),
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new sandbox.Promise<Result>((resolve, reject) => {
          waiting = { resolve, reject }
          settle()
        }),
      return: () => {
        body.destroy()
        return sandbox.Promise.resolve(DONE)
      }
    })
  }
  return body
}

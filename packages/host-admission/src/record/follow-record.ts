/** A record as it grows, across segments: what stands there, then what comes, one chunk in memory at a time. */
import type { Clock } from '@agentmux/lease-model'
import { FolderWatch } from './folder-watch.js'
import type { RecordItem } from './record-line.js'
import { scanRecord } from './scan-record.js'

export interface FollowOptions {
  /** The position to begin at; the beginning of the record unless given. */
  readonly from?: number
  /** Ends the iteration. Without one, leave the loop to end it. */
  readonly signal?: AbortSignal
  /** Aborted once nothing is to come any more: what stands there then is the end. */
  readonly last?: AbortSignal
}

/** A burst of appends is read in one go: the first at once, the rest no more often than this. */
const BETWEEN_SCANS_MS = 10

/** Ends at the abort, without an error; with `last` after the last item. */
export async function* followRecord(
  folder: string,
  clock: Clock,
  { from = 0, signal, last }: FollowOptions
): AsyncGenerator<RecordItem, void> {
  if (signal?.aborted) return
  const watch = new FolderWatch(folder, clock)
  try {
    for (let position = from; ; ) {
      const startedMs = clock.bootMs()
      // Asked before the scan: what was written until then is in it.
      const isLast = last?.aborted === true
      for await (const items of scanRecord(folder, position)) {
        for (const item of items) {
          if (signal?.aborted) return
          position = item.next
          yield item
        }
      }
      if (isLast) return
      await watch.change(signal, last)
      if (signal?.aborted) return
      const restMs = startedMs + BETWEEN_SCANS_MS - clock.bootMs()
      if (restMs > 0) await clock.sleep(restMs)
    }
  } finally {
    watch.close()
  }
}

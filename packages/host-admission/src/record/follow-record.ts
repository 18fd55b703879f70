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
}

/** A burst of appends is read in one go: the first at once, the rest no more often than this. */
const BETWEEN_SCANS_MS = 10

/** Ends at the abort, without an error. */
export async function* followRecord(
  folder: string,
  clock: Clock,
  { from = 0, signal }: FollowOptions
): AsyncGenerator<RecordItem, void> {
  if (signal?.aborted) return
  const watch = new FolderWatch(folder, clock)
  try {
    for (let position = from; ; ) {
      const startedMs = clock.bootMs()
      for await (const items of scanRecord(folder, position)) {
        for (const item of items) {
          if (signal?.aborted) return
          position = item.next
          yield item
        }
      }
      await watch.change(signal)
      if (signal?.aborted) return
      const restMs = startedMs + BETWEEN_SCANS_MS - clock.bootMs()
      if (restMs > 0) await clock.sleep(restMs)
    }
  } finally {
    watch.close()
  }
}

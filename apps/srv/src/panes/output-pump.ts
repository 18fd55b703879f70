/**
 * Carries one output of a child into the agent's record, in order, through the fence. It reads no further while the record
 * is behind, so a child that is faster than the disk waits and memory stays bounded. After a loss what comes goes nowhere.
 */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import {
  type AppendResult,
  type LostCheck,
  outputEvents,
  type RecordEvent,
  RecordFault
} from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'

export interface OutputPumpPorts {
  /** Appends through the fence. */
  readonly append: (events: readonly RecordEvent[]) => Promise<AppendResult | LostCheck>
  /** The fence has said that we are not the holder. */
  readonly onTurnedAway: (result: Exclude<AppendResult, { kind: 'appended' }> | LostCheck) => void
  readonly onFault: (fault: unknown) => void
  readonly clock: Clock
}

/** Sixteen pieces are under a batch's limit, whatever is in them. */
const BATCH = 16
/** What comes within this time is appended at once: a child that says much in little pieces holds no lock all the time. */
const GATHER_MS = 10
const RETRY_MS = 1_000
/** A record that cannot be written holds the child up for this long; then its output is dropped, and counted. */
const PATIENCE_MS = 30_000

export class OutputPump {
  /** Resolves when the output has ended and stands in the record, or was discarded. */
  readonly done: Promise<void>
  readonly #name: 'stdout' | 'stderr'
  readonly #stream: Readable
  readonly #ports: OutputPumpPorts
  readonly #stop = new AbortController()
  #storedAtMs = 0
  #failingSinceMs: number | undefined
  #droppedUnits = 0

  constructor(name: 'stdout' | 'stderr', stream: Readable, ports: OutputPumpPorts) {
    this.#name = name
    this.#stream = stream
    this.#ports = ports
    this.done = this.#run()
  }

  /** What comes from now on goes nowhere; it is still read, so that the child is not held up on its way out. */
  discard(): void {
    this.#stop.abort()
  }

  /** Reads no more: something that is not of the claim keeps the pipe open. */
  close(): void {
    this.discard()
    this.#stream.destroy()
  }

  async #run(): Promise<void> {
    const decoder = new StringDecoder('utf8')
    try {
      for await (const chunk of this.#stream) await this.#store(decoder.write(chunk))
    } catch {
      // The pipe broke or was closed: that was its end.
    }
    await this.#store(decoder.end())
  }

  async #store(text: string): Promise<void> {
    const { clock } = this.#ports
    const pauseMs = this.#storedAtMs + GATHER_MS - clock.bootMs()
    if (text !== '' && pauseMs > 0) await clock.sleep(pauseMs, this.#stop.signal).catch(() => {})
    this.#storedAtMs = clock.bootMs()
    const events = outputEvents(this.#name, text)
    for (let at = 0; at < events.length; at += BATCH) await this.#append(events.slice(at, at + BATCH))
  }

  async #append(events: readonly RecordEvent[]): Promise<void> {
    const { append, onTurnedAway, onFault, clock } = this.#ports
    let left = [...this.#gap(), ...events]
    while (left.length > 0 && !this.#stop.signal.aborted) {
      try {
        const result = await append(left)
        this.#failingSinceMs = undefined
        if (result.kind === 'appended') {
          this.#droppedUnits = 0
          return
        }
        this.discard()
        onTurnedAway(result)
      } catch (fault) {
        if (fault instanceof RecordFault) left = left.slice(fault.appendedLines)
        onFault(fault)
        const nowMs = clock.bootMs()
        this.#failingSinceMs ??= nowMs
        if (nowMs - this.#failingSinceMs >= PATIENCE_MS) return this.#drop(left)
        await clock.sleep(RETRY_MS, this.#stop.signal).catch(() => {})
      }
    }
  }

  /** What was dropped before stands first in the record, as a count. */
  #gap(): RecordEvent[] {
    if (this.#droppedUnits === 0) return []
    return [{ kind: 'output-dropped', stream: this.#name, characters: this.#droppedUnits }]
  }

  #drop(events: readonly RecordEvent[]): void {
    for (const { kind, text } of events) {
      if (kind === 'output' && typeof text === 'string') this.#droppedUnits += text.length
    }
  }
}

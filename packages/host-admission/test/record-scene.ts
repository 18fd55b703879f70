/** What the tests of the shared record need: a shared root of their own, and real processes that write to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import type { RecordItem, RecordLine } from '../src/record/record-line.js'
import type { SharedRecord } from '../src/record/shared-record.js'
import type { WriterOrder } from './record-writer.js'

export function tempRoot(place: string = tmpdir()): string {
  return mkdtempSync(join(place, 'agent-record-'))
}

/** Every file of a folder with its bytes, to see what a call changed. */
export function contents(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    try {
      found[name] = readFileSync(join(folder, name), 'latin1')
    } catch {
      found[name] = 'folder'
    }
  }
  return found
}

export function segmentsOf(record: SharedRecord, uid: string): string[] {
  const folder = record.pathOf(uid)
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return names.sort().map((name) => join(folder, name))
}

export async function readAll(record: SharedRecord, uid: string, from = 0): Promise<RecordItem[]> {
  const items: RecordItem[] = []
  for (let next = from; ; ) {
    const result = await record.read(uid, { from: next })
    items.push(...result.items)
    next = result.next
    if (result.atEnd) return items
  }
}

export function linesOf(items: readonly RecordItem[]): RecordLine[] {
  return items.filter((item) => item.kind === 'line')
}

/** The writer program, compiled: beside the package's dependencies, which it finds by its place. */
export async function buildWriter(): Promise<{ program: string; remove: () => void }> {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const modules = join(here, '..', 'node_modules')
  mkdirSync(modules, { recursive: true })
  const outDir = mkdtempSync(join(modules, '.record-writer-'))
  await build({
    entry: [join(here, 'record-writer.ts')],
    outDir,
    format: ['esm'],
    target: 'node20',
    outExtension: () => ({ js: '.mjs' }),
    config: false,
    silent: true
  })
  const remove = () => rmSync(outDir, { recursive: true, force: true })
  return { program: join(outDir, 'record-writer.mjs'), remove }
}

/** A writer process and the lines it has printed. */
export class Writer {
  readonly child: ChildProcess
  readonly said: string[] = []
  readonly exited: Promise<void>
  #heard: () => void = () => {}

  /** `via`: a command that runs the one behind it. */
  constructor(program: string, order: WriterOrder, via: readonly string[] = []) {
    const [command, ...args] = [...via, process.execPath, program, JSON.stringify(order)]
    this.child = spawn(command as string, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.child.stdin?.on('error', () => {})
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      this.said.push(line)
      this.#heard()
    })
    this.exited = new Promise((resolve) => {
      let open = 2
      const done = () => {
        open -= 1
        this.#heard()
        if (open === 0) resolve()
      }
      lines.once('close', done)
      this.child.once('exit', done)
    })
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** The numbers of the lines that were acknowledged to it. */
  get acknowledged(): number[] {
    return this.said.flatMap((line) => rangeOf(line))
  }

  get rejected(): boolean {
    return this.said.some((line) => line.startsWith('rejected '))
  }

  /** Resolves once it has said what is wanted; fails if it ends before. */
  async until(wanted: (writer: this) => boolean): Promise<void> {
    while (!wanted(this)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        await this.exited
        if (wanted(this)) return
        throw new Error(`the writer ended after saying ${JSON.stringify(this.said.slice(-3))}`)
      }
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Asks it to end after the append it is at. */
  async finish(): Promise<void> {
    this.child.stdin?.end()
    await this.exited
  }
}

function rangeOf(line: string): number[] {
  const match = /^ack (\d+) (\d+)$/.exec(line)
  if (match === null) return []
  const first = Number(match[1])
  return Array.from({ length: Number(match[2]) }, (_, index) => first + index)
}

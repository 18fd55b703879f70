/**
 * Where a test plays: a shared folder of its own, an agent of its own, and whatever it starts there. Everything started
 * carries the folder in its environment; by that, and only that, what is left is found and ended afterwards.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test as base } from 'vitest'
import { lives, processesWith } from './processes.js'
import { Program } from './program.js'
import { until } from './until.js'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** A line of the audit file that stand-ins for agents write. */
export interface AuditLine {
  readonly event: 'begin' | 'beat' | 'signal' | 'size' | 'end'
  readonly name: string
  readonly pid: number
  readonly claim: string
  readonly epoch?: number
  readonly ppid?: number
  readonly signal?: NodeJS.Signals
  readonly size?: readonly number[]
}

export interface RunOptions {
  readonly uid?: string
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Words in front of node: what starts it. */
  readonly via?: readonly string[]
  /** Words between node and the command line. */
  readonly nodeFlags?: readonly string[]
  readonly spawn?: SpawnOptions
}

export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'agentmux-srv-'))
  readonly shared = join(this.folder, 'shared')
  readonly leases = join(this.shared, 'agents', 'registry', 'leases')
  readonly uid = `agent-${randomUUID().slice(0, 8)}`
  readonly audit = join(this.folder, 'audit')
  readonly #mark = `AGENTMUX_TEST_SCENE=${this.folder}`
  #files = 0

  /** What everything here is started with: nothing of the agent that may be running these tests. */
  get environment(): Record<string, string> {
    const inherited = Object.entries(process.env).filter(
      ([name, value]) => value !== undefined && !/^(AGENTMUX_|VITEST|NODE_OPTIONS|NODE_ENV)/.test(name)
    )
    const [markName = '', markValue = ''] = this.#mark.split('=')
    return {
      ...(Object.fromEntries(inherited) as Record<string, string>),
      HOME: this.folder,
      TERM: 'xterm-256color',
      AGENTMUX_SHARED_DIR: this.shared,
      [markName]: markValue
    }
  }

  /** A path in the scene's folder that nothing has used yet. */
  newPath(name: string): string {
    this.#files += 1
    return join(this.folder, `${name}-${this.#files}`)
  }

  /** Makes a trigger file appear. */
  trigger(path: string): void {
    writeFileSync(path, '')
  }

  start(
    words: readonly string[],
    options: SpawnOptions & { environment?: Record<string, string> } = {}
  ): Program {
    const { environment, ...spawnOptions } = options
    const [command = '', ...args] = words
    const child = spawn(command, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...this.environment, ...environment },
      ...spawnOptions
    })
    return new Program(child)
  }

  /** The words of `agentmux-srv ARGUMENTS…`. */
  words(args: readonly string[], { via = [], nodeFlags = [] }: RunOptions = {}): string[] {
    return [...via, process.execPath, ...nodeFlags, CLI, ...args]
  }

  /** The words of `agentmux-srv run … -- COMMAND…`. */
  runWords(command: readonly string[], options: RunOptions = {}): string[] {
    const { uid = this.uid, flags = [] } = options
    return this.words(['run', '--uid', uid, ...flags, '--', ...command], options)
  }

  run(command: readonly string[], options: RunOptions = {}): Program {
    return this.start(this.runWords(command, options), {
      ...options.spawn,
      environment: { ...options.environment }
    })
  }

  cli(args: readonly string[], options: RunOptions = {}): Program {
    return this.start(this.words(args, options), {
      ...options.spawn,
      environment: { ...options.environment }
    })
  }

  /** Another process that locks a file with flock and keeps it so; it prints `locked`. */
  lockFile(path: string): Program {
    return this.start([process.execPath, fixture('lock-file.cjs'), path])
  }

  commandOf(pid: number): string {
    return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
  }

  /** The words of a stand-in for an agent that writes to this scene's audit file. */
  agent(name = 'agent', ...flags: string[]): string[] {
    return [process.execPath, fixture('agent.mjs'), '--audit', this.audit, '--name', name, ...flags]
  }

  /**
   * The words of a command that starts an agent's stand-in in the background and exits, once it and its children have
   * begun.
   */
  leaving(exit: number, agent: readonly string[]): string[] {
    const expected = agent.filter((word) => /^--(name|child|session-child)$/.test(word)).length
    const begun = `$(grep -c '"begin"' ${quoted(this.audit)} 2> /dev/null || true)`
    const script = `"$@" & while [ "${begun}" != ${expected} ]; do sleep 0.05; done; exit ${exit}`
    return ['sh', '-c', script, 'sh', ...agent]
  }

  auditLines(): AuditLine[] {
    return this.lines(this.audit).map((line) => JSON.parse(line))
  }

  /** The first line of an agent that fits. */
  audited(name: string, event: AuditLine['event'], fits: (line: AuditLine) => boolean = () => true) {
    return until(`${name} writes ${event}`, () =>
      this.auditLines().find((line) => line.name === name && line.event === event && fits(line))
    )
  }

  /** Another beat of a process from now on. */
  async beatsAgain(pid: number): Promise<void> {
    const beats = () => this.auditLines().filter((line) => line.event === 'beat' && line.pid === pid).length
    const before = beats()
    await until(`pid ${pid} beats again`, () => beats() > before)
  }

  /** The lines of a file; none if it is not there yet. */
  lines(path: string): string[] {
    if (!existsSync(path)) return []
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  }

  inodeOf(path: string): number {
    return statSync(path).ino
  }

  exists(path: string): boolean {
    return existsSync(path)
  }

  leaseFile(uid = this.uid): string {
    return join(this.leases, `${uid}.lease.json`)
  }

  /** The start is over: a renewal has recorded the child. From then on renewals write in place. */
  async settled(): Promise<void> {
    await until(
      'the lease names the child',
      () => this.exists(this.leaseFile()) && Number(this.lease().driver_pid) > 0
    )
  }

  /** The lease of another agent, once it is there. */
  leaseOf(uid: string) {
    return until(`${uid} is held`, () => this.exists(this.leaseFile(uid)) && this.lease(uid))
  }

  /** What a person may do who has had enough. */
  async removeLease(): Promise<void> {
    await this.settled()
    rmSync(this.leaseFile())
  }

  async removeShared(): Promise<void> {
    await this.settled()
    rmSync(this.shared, { recursive: true })
  }

  lease(uid = this.uid): Record<string, unknown> & { epoch: number; claim_id: string; pid: number } {
    return JSON.parse(readFileSync(this.leaseFile(uid), 'utf8'))
  }

  async close(): Promise<void> {
    await until('everything started here has ended', () => {
      const left = processesWith(this.#mark).filter(lives)
      for (const pid of left) end(pid)
      return left.length === 0
    })
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A word as a shell takes it, whatever it contains. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It was faster.
  }
}

/** A test with a scene of its own. */
export const test = base.extend<{ scene: Scene }>({
  // biome-ignore lint/correctness/noEmptyPattern: what vitest asks for
  scene: async ({}, use) => {
    const scene = new Scene()
    await use(scene)
    await scene.close()
  }
})

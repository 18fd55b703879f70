/**
 * Lies to a real process about its clocks, its file system, flock, inotify and renames: shim/system.c, preloaded. They can
 * be changed while the process runs.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './folder.js'

const SOURCE = fileURLToPath(new URL('../shim/system.c', import.meta.url))
/** As many numbers as the shim reads. */
const BYTES = 6 * 8

export interface Told {
  /** How far the wall clock was stepped, milliseconds. */
  readonly wallMs?: number
  /** How long the machine slept, milliseconds: time that the wall clock and the uptime count and the monotonic clock does not. */
  readonly sleptMs?: number
  /** What statfs says the file system is. */
  readonly fileSystem?: number
  /** `nothing`: it says yes and locks nothing; else the error that it fails with. */
  readonly flock?: 'nothing' | keyof typeof constants.errno | undefined
  readonly inotify?: keyof typeof constants.errno
  /** So many renames fail, as if somebody had the file open on Windows. */
  readonly busyRenames?: number
}

export class Lies {
  readonly #path = join(temporaryFolder(), 'lies')
  #told: Told = {}

  constructor(told: Told = {}) {
    writeFileSync(this.#path, Buffer.alloc(BYTES))
    this.tell(told)
  }

  /** For the process that is to be lied to. */
  get env(): NodeJS.ProcessEnv {
    return { LD_PRELOAD: library(), SHIM_LIES: this.#path }
  }

  /** Takes effect at once; what is not mentioned stays as it was. */
  tell(told: Told): void {
    this.#told = { ...this.#told, ...told }
    const { wallMs = 0, sleptMs = 0, fileSystem = 0, flock, inotify, busyRenames = 0 } = this.#told
    const numbers = [
      BigInt(Math.round(wallMs + sleptMs)) * 1_000_000n,
      BigInt(Math.round(sleptMs)) * 1_000_000n,
      BigInt(fileSystem),
      flock === 'nothing' ? -1n : errorNumber(flock),
      errorNumber(inotify),
      BigInt(busyRenames)
    ]
    // In place: the process has the file mapped.
    const descriptor = openSync(this.#path, 'r+')
    writeSync(descriptor, Buffer.from(BigInt64Array.from(numbers).buffer))
    closeSync(descriptor)
  }
}

function errorNumber(name: keyof typeof constants.errno | undefined): bigint {
  return name === undefined ? 0n : BigInt(constants.errno[name])
}

const compiled = new Map<string, string>()

/** Compiled once for each file of tests, with the compiler that the native lock needs anyway. */
function library(): string {
  const known = compiled.get(SOURCE)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'lease-store-shim-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'system.so')
  execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl'])
  compiled.set(SOURCE, path)
  return path
}

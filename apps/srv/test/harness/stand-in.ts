/** Builds the library that is preloaded into the command line to stand in for broken disks and to witness signals. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixture, type Scene } from './scene.js'

let library: string | undefined

function build(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentmux-stand-in-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  const file = join(folder, 'stand-in.so')
  const { status, stderr } = spawnSync(
    'cc',
    ['-O1', '-Wall', '-shared', '-fPIC', '-o', file, fixture('stand-in.c'), '-ldl'],
    { encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`cc could not build the stand-in: ${stderr}`)
  return file
}

export interface StandIn {
  /** From the moment this file exists the lease folder does not answer. */
  readonly freeze?: string
  readonly full?: boolean
  /** What statfs says the file system is. */
  readonly fileSystem?: number
  /** The number of the error that flock fails with there; 0: it says yes and does nothing. */
  readonly flock?: number
  /** Gets a line `FROM TO SIGNAL` for each signal sent. */
  readonly killLog?: string
}

/** The variables that put the library in. */
export function standIn(
  scene: Scene,
  { freeze, full, fileSystem, flock, killLog }: StandIn
): Record<string, string> {
  library ??= build()
  return {
    LD_PRELOAD: library,
    STAND_IN_FOLDER: scene.leases,
    ...(freeze === undefined ? {} : { STAND_IN_FREEZE: freeze }),
    ...(full ? { STAND_IN_FULL: '1' } : {}),
    ...(fileSystem === undefined ? {} : { STAND_IN_TYPE: String(fileSystem) }),
    ...(flock === undefined ? {} : { STAND_IN_FLOCK: String(flock) }),
    ...(killLog === undefined ? {} : { STAND_IN_KILL_LOG: killLog })
  }
}

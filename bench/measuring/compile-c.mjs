/** Compiles a C source of these benchmarks into a folder that goes away at exit. */
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { freshFolder } from './places.mjs'

/** The path of the program; undefined, with the reason on stderr, if there is no compiler. */
export function compileC(source) {
  const program = join(freshFolder(tmpdir()), basename(source, '.c'))
  const built = spawnSync('cc', ['-O2', '-Wall', '-Wextra', '-o', program, source], { encoding: 'utf8' })
  if (built.status === 0) return program
  process.stderr.write(`no C program to compare with: ${built.error?.message ?? built.stderr}\n`)
  return undefined
}

/** Where the examples of one package run: as for a user who has installed that package and nothing else. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import ts from 'typescript'
import { declaredDependencies } from '../../scripts/layers/manifest-rules.mjs'
import { environmentOutsideNpm } from '../../scripts/start/leave-npm.mjs'
import { repositoryRoot, type WorkspacePackage } from '../../scripts/workspace.mjs'
import type { Example } from './fenced-blocks.js'

const TSC = join(repositoryRoot, 'node_modules/typescript/bin/tsc')
const TYPES = join(repositoryRoot, 'node_modules/@types')
/** An example is to be read in a minute; it must not take one to run. */
const LIMIT_MS = 60_000

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ExampleFolder {
  /** What the compiler has to say about it; empty if nothing. */
  typeErrors(example: Example): string
  /** Runs it in an empty folder, which is its home as well. */
  run(example: Example): Ran
  remove(): void
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'junction')
}

export function exampleFolder(owner: WorkspacePackage): ExampleFolder {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  const modules = join(folder, 'node_modules')
  const bin = join(folder, 'bin')
  link(owner.dir, join(modules, owner.manifest.name))
  for (const { name } of declaredDependencies(owner.manifest)) {
    link(join(owner.dir, 'node_modules', name), join(modules, name))
  }
  mkdirSync(bin)
  for (const [name, file] of Object.entries<string>(owner.manifest.bin ?? {})) {
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(owner.dir, file)}' "$@"\n`
    writeFileSync(join(bin, name), script, { mode: 0o755 })
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')

  const spawn = (command: string, args: readonly string[], cwd: string): Ran => {
    const outside = environmentOutsideNpm(repositoryRoot)
    const kept = Object.entries(outside).filter(([name]) => !name.startsWith('AGENTMUX_'))
    const env = {
      ...Object.fromEntries(kept),
      HOME: cwd,
      USERPROFILE: cwd,
      PATH: bin + delimiter + (outside.PATH ?? '')
    }
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      env,
      encoding: 'utf8',
      timeout: LIMIT_MS
    })
    return { code: status, stdout, stderr }
  }
  return {
    typeErrors(example) {
      writeFileSync(join(folder, 'example.ts'), example.code)
      const flags = [
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--skipLibCheck',
        'false'
      ]
      const types = ['--lib', 'es2022,esnext.disposable', '--types', 'node', '--typeRoots', TYPES]
      return spawn(process.execPath, [TSC, ...flags, ...types, 'example.ts'], folder).stdout
    },
    run(example) {
      const cwd = mkdtempSync(join(folder, 'run-'))
      if (example.language === 'sh') return spawn('sh', ['-eu', '-c', example.code], cwd)
      const { outputText } = ts.transpileModule(example.code, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
      })
      writeFileSync(join(folder, 'example.mjs'), outputText)
      return spawn(process.execPath, [join(folder, 'example.mjs')], cwd)
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

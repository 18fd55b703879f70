/** Every package, packed as for a registry, is complete, and works alone in a project that has nothing else. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LAYERS, NATIVE_LOCK } from '../../scripts/check-layers.mjs'
import { repositoryRoot, type WorkspacePackage } from '../../scripts/workspace.mjs'
import { type EmptyProject, emptyProject } from './empty-project.js'
import {
  type PackedPackages,
  packAll,
  publishedPackages,
  tarballFiles,
  tarballText,
  withOwnDependencies
} from './packed-packages.js'

const TSC = join(repositoryRoot, 'node_modules/typescript/bin/tsc')
const TYPES = join(repositoryRoot, 'node_modules/@types')

/** What may be imported: `@agentmux/lease-model`, `@agentmux/lease-model/testing`. */
function specifiersOf(manifest: WorkspacePackage['manifest']): string[] {
  return Object.keys(manifest.exports ?? {}).map((path) => manifest.name + path.slice(1))
}

let packed: PackedPackages
beforeAll(async () => {
  packed = await packAll()
})
afterAll(() => rmSync(packed.folder, { recursive: true, force: true }))

describe.each(publishedPackages.map((p) => [p.manifest.name as string, p.manifest] as const))(
  '%s',
  (name, manifest) => {
    test('its tarball has the README, the licence, the build with types and source maps, and nothing else', () => {
      const tarball = packed.tarball(name)
      const files = tarballFiles(tarball)
      expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
      expect(tarballText(tarball, 'LICENSE')).toBe(readFileSync(join(repositoryRoot, 'LICENSE'), 'utf8'))
      const others = files.filter((file) => !/^([A-Z]+\.md|LICENSE|package\.json)$/.test(file))
      // A program that is built as CommonJS says so in its dist/package.json.
      expect(
        others.filter((file) => !/^dist\/(.+\.(js|js\.map|d\.ts|d\.ts\.map)|package\.json)$/.test(file))
      ).toEqual([])

      const scripts = others.filter((file) => file.endsWith('.js'))
      expect(scripts).not.toEqual([])
      for (const script of scripts) {
        const map = JSON.parse(tarballText(tarball, `${script}.map`))
        expect(
          map.sourcesContent ?? [],
          `${script}.map has its sources in it, since src is not packed`
        ).toHaveLength(map.sources.length)
      }
      const entries = Object.values<Record<string, string>>(manifest.exports ?? {}).flatMap((entry) =>
        Object.values(entry)
      )
      const targets = [...entries, ...Object.values<string>(manifest.bin ?? {})].map((path) =>
        path.replace('./', '')
      )
      expect(targets).not.toEqual([])
      expect(files).toEqual(expect.arrayContaining(targets))
      expect(tarballText(tarball, 'package.json')).not.toContain('workspace:')
    })

    describe('installed alone by npm', () => {
      const specifiers = specifiersOf(manifest)
      let project: EmptyProject
      beforeAll(() => {
        project = emptyProject()
        const tarballs = withOwnDependencies(name).map((each) => packed.tarball(each))
        const { code, output } = project.run('npm', ['install', '--no-audit', '--no-fund', ...tarballs])
        expect(code, output).toBe(0)
      })
      afterAll(() => project.remove())

      if (specifiers.length > 0) {
        test('every export can be imported', () => {
          for (const specifier of specifiers) {
            const script = `import * as all from '${specifier}'; console.log(Object.keys(all).length)`
            const { code, output } = project.run(process.execPath, ['--input-type=module', '-e', script])
            expect(code, output).toBe(0)
            expect(Number(output), `${specifier} exports nothing`).toBeGreaterThan(0)
          }
        })

        test('its types are right for a strict consumer that checks them too', () => {
          const lines = specifiers.map((specifier, index) => `export * as part${index} from '${specifier}'`)
          project.write('consumer.mts', `${lines.join('\n')}\n`)
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
          const types = ['--types', 'node', '--typeRoots', TYPES]
          const { code, output } = project.run(process.execPath, [TSC, ...flags, ...types, 'consumer.mts'])
          expect(code, output).toBe(0)
        })
      }

      if (LAYERS[name]?.compilerFree) {
        test('nothing had to be compiled and no install script came along', () => {
          const installed = project.installed()
          expect(installed.map(({ path }) => path)).toContain(`node_modules/${name}`)
          expect(installed.filter(({ path }) => path.endsWith(`/${NATIVE_LOCK.name}`))).toEqual([])
          expect(installed.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
        })
      }

      test.each(Object.keys(manifest.bin ?? {}))('its program %s runs and tells its version', (bin) => {
        const { code, output } = project.run(join(project.folder, 'node_modules/.bin', bin), ['--version'])
        expect(code, output).toBe(0)
        expect(output).toContain(manifest.version)
      })
    })
  }
)

/** What has to hold of a package that npm installs into a project that has nothing else. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { LAYERS, NATIVE_LOCK } from '../../scripts/check-layers.mjs'
import { repositoryRoot, type WorkspacePackage } from '../../scripts/workspace.mjs'
import { type EmptyProject, emptyProject } from './empty-project.js'
import { PackedPackages, withOwnDependencies } from './packed-packages.js'

const TSC = join(repositoryRoot, 'node_modules/typescript/bin/tsc')
const TYPES = join(repositoryRoot, 'node_modules/@types')

/** What may be imported: `@agentmux/lease-model`, `@agentmux/lease-model/testing`. */
function specifiersOf(manifest: WorkspacePackage['manifest']): string[] {
  return Object.keys(manifest.exports ?? {}).map((path) => manifest.name + path.slice(1))
}

/** The tests of these packages, each in a project of its own. */
export function testInstalledAlone(packages: readonly WorkspacePackage[]): void {
  const packed = new PackedPackages(inject('packed'))
  describe.each(packages.map((p) => [p.manifest.name as string, p.manifest] as const))(
    '%s, installed alone by npm',
    (name, manifest) => {
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
    }
  )
}

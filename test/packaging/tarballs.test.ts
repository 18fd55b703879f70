/** Every package, packed as for a registry, is complete and has nothing else in it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { repositoryRoot } from '../../scripts/workspace.mjs'
import { PackedPackages, publishedPackages, tarballFiles, tarballText } from './packed-packages.js'

const packed = new PackedPackages(inject('packed'))

test.each(publishedPackages.map((p) => [p.manifest.name as string, p.manifest] as const))(
  'the tarball of %s has the README, the licence, the build with types and source maps, and nothing else',
  (name, manifest) => {
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
  }
)

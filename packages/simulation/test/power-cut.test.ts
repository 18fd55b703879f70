import { expect, test } from 'vitest'
import { Disk } from '../src/disk/disk.js'
import { Random } from '../src/world/random.js'

function diskWithFile(synced: boolean): Disk {
  const disk = new Disk()
  const folder = disk.lay('/a')
  const file = disk.create('file', 0o600)
  folder.entries.set('file', file)
  file.data = Buffer.from('content')
  if (synced) {
    file.sync()
    folder.sync()
    disk.root.sync()
  }
  return disk
}

test('what was synced, with its name, survives every power cut', () => {
  for (let seed = 0; seed < 200; seed++) {
    const disk = diskWithFile(true)
    disk.loseWhatWasNotSynced(new Random(seed))
    expect(disk.find('/a/file')?.data.toString()).toBe('content')
  }
})

test('what was not may be gone, empty, cut, full of zeros, or there', () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 400; seed++) {
    const disk = diskWithFile(false)
    disk.loseWhatWasNotSynced(new Random(seed))
    const data = disk.find('/a/file')?.data
    seen.add(
      data === undefined
        ? 'gone'
        : data.length === 0
          ? 'empty'
          : data.every((byte) => byte === 0)
            ? 'zeros'
            : data.toString()
    )
  }
  expect(seen).toContain('gone')
  expect(seen).toContain('empty')
  expect(seen).toContain('zeros')
  expect(seen).toContain('content')
  expect(seen).toContain('con')
})

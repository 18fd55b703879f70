/** Which file systems are doubtful. */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { doubtfulType, doubtsAbout } from '../src/file-system.js'
import { temporaryFolder } from './harness/folder.js'

describe('a file system', () => {
  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'SMB'],
    [0xff534d42 | 0, 'SMB'],
    [0xfe534d42, 'SMB'],
    [0x65735546, 'FUSE'],
    [0x01021997, '9P']
  ])('of type %i is doubtful: %s', (type, name) => {
    expect(doubtfulType(type)).toBe(name)
  })

  it.each([0xef53, 0x01021994, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x794c7630])(
    'of type %i is not: ext4, tmpfs, XFS, Btrfs, ZFS, overlay',
    (type) => {
      expect(doubtfulType(type)).toBeUndefined()
    }
  )

  it('of the folder for temporary files is not, and of a missing folder is unknown', () => {
    expect(doubtsAbout(tmpdir())).toBe('')
    expect(doubtsAbout('/nonexistent/folder')).toBeUndefined()
  })
})

describe('a folder that is copied between computers', () => {
  it.each(['Dropbox', 'OneDrive - Work', 'Google Drive', 'Mobile Documents'])('is doubtful: %s', (name) => {
    const folder = `${temporaryFolder()}/${name}/shared`
    mkdirSync(folder, { recursive: true })
    expect(doubtsAbout(folder)).toContain('synchronised')
  })
})

/**
 * Which file systems do not deserve full trust: there two machines may see different contents at the same moment, or
 * think themselves the same machine, so a lease is judged only by watching it.
 */
import { statfsSync } from 'node:fs'

/** Magic numbers of statfs(2) on Linux. */
const DOUBTFUL_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x786f4256, 'a VirtualBox shared folder']
])

/** Folders that a program copies between computers behind everybody's back: a lock on one is not seen on the other. */
const SYNCED =
  /[/\\](Dropbox|OneDrive|Google ?Drive|My Drive|Mobile Documents|CloudStorage|Syncthing)([ /\\(-]|$)/i

/** What is doubtful about the file system of a folder, as a noun phrase; '' if nothing is; undefined if unknown. */
export function doubtsAbout(folder: string): string | undefined {
  if (process.platform === 'linux') {
    try {
      const name = doubtfulType(statfsSync(folder).type)
      if (name !== undefined) return name
    } catch {
      return undefined
    }
  }
  return SYNCED.test(folder) ? 'a folder synchronised between computers' : ''
}

/** The name of a doubtful file system type; undefined for any other. */
export function doubtfulType(type: number): string | undefined {
  // Some kernels give the number with its sign.
  return DOUBTFUL_TYPES.get(type >>> 0)
}

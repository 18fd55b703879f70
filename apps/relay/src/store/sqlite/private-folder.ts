/** That nobody else can look into the data folder: the hashes of tokens and the messages are in there (R16). */
import { statSync } from 'node:fs'
import { DataFolderFault } from './data-folder-fault.js'

/** @throws DataFolderFault with what to do */
export function checkPrivate(folder: string): void {
  const { mode, uid } = statSync(folder)
  if (process.getuid === undefined) return
  if (uid !== process.getuid()) {
    throw new DataFolderFault(`${folder} belongs to another user: give --data another folder`)
  }
  if ((mode & 0o077) !== 0) {
    throw new DataFolderFault(
      `${folder} is open to other users: run chmod 700 ${folder}, or give --data another folder`
    )
  }
}

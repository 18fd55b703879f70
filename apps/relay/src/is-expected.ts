/** Whether an error is the world's (the disk, the port, the certificate, the store) and not a mistake of ours. */

import { DataFolderFault } from './store/sqlite/data-folder-fault.js'
import { StoreUnavailable } from './store/store-unavailable.js'

export function isExpected(error: unknown): error is Error {
  if (error instanceof StoreUnavailable || error instanceof DataFolderFault) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  return 'syscall' in error || String(error.code).startsWith('ERR_OSSL')
}

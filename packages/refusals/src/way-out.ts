/** What to do about an errno: the sentence that ends a lease I/O refusal. Unknown codes get advice that is always true. */
export function wayOut(code: string): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'Free some space there, then try again.'
    case 'EACCES':
    case 'EPERM':
      return 'Give this user the right to read and write there, then try again.'
    case 'EROFS':
      return 'Make that file system writable or choose another folder with --shared-dir, then try again.'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'Something that is not a folder stands in the way; move it, then try again.'
    case 'ENOLCK':
    case 'ENOSYS':
    case 'ENOTSUP':
    case 'EOPNOTSUPP':
      return 'That file system cannot lock files; choose another folder with --shared-dir.'
    case 'EMFILE':
    case 'ENFILE':
      return 'Too many files are open; close some programs or raise the limit (ulimit -n), then try again.'
    case 'EIO':
    case 'ESTALE':
    case 'ETIMEDOUT':
      return 'Check that the disk or the network share answers, then try again.'
    default:
      return 'Check that path, then try again.'
  }
}

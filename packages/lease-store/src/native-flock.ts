/** The only door to flock(2). There is no substitute: without it no lease is given, read-only looks still work. */
import { createRequire } from 'node:module'
import { errnoOf, LeaseFault } from './lease-fault.js'

/** Tries to take an exclusive flock without waiting. False if another open file has it. Throws what the system says. */
export type TryFlock = (descriptor: number) => boolean

interface FsExt {
  flockSync(descriptor: number, operation: 'exnb'): void
}

const require = createRequire(import.meta.url)
let native: FsExt | undefined

/** @throws LeaseFault `lock-module-missing` if the native module is not built for this Node. */
export const tryFlock: TryFlock = (descriptor) => {
  native ??= load()
  try {
    native.flockSync(descriptor, 'exnb')
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'EAGAIN' || errno === 'EWOULDBLOCK') return false
    throw error
  }
}

function load(): FsExt {
  try {
    return require('fs-ext') as FsExt
  } catch (error) {
    throw new LeaseFault(
      'the native file lock (fs-ext) is not built for this Node, and without it no lease can be held. ' +
        'Install a C++ compiler, make and python3, then reinstall (Debian, Ubuntu: apt-get install build-essential ' +
        'python3; Fedora: dnf install gcc-c++ make python3; macOS: xcode-select --install; Windows: Visual ' +
        'Studio Build Tools); with package managers that skip install scripts, allow the one of fs-ext',
      { code: 'lock-module-missing', path: 'fs-ext', cause: error }
    )
  }
}

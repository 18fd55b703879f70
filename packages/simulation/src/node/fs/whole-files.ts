/** The calls of node:fs that take a file as a whole: a read opens and closes, a write opens, writes and closes. */
import { constants } from 'node:fs'
import type { Descriptors } from './descriptors.js'
import type { Place } from './place.js'

export function wholeFiles(place: Place, { openSync, closeSync, writeSync }: Descriptors) {
  return {
    readFileSync(path: string | number, encoding?: BufferEncoding | { encoding?: BufferEncoding }) {
      const name = typeof encoding === 'string' ? encoding : encoding?.encoding
      const descriptor = typeof path === 'number' ? path : openSync(path)
      try {
        const file = place.opened(descriptor, 'read')
        const data = 'inode' in file ? file.inode.data : file.text
        return name === undefined ? Buffer.from(data) : data.toString(name)
      } finally {
        if (typeof path === 'string') closeSync(descriptor)
      }
    },
    writeFileSync(path: string | number, data: string | Uint8Array) {
      if (typeof path === 'number') return void writeSync(path, data)
      const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT)
      try {
        writeSync(descriptor, data)
      } finally {
        closeSync(descriptor)
      }
    }
  }
}

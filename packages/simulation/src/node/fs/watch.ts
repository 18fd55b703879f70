/** fs.watch of one file, as inotify does it: whoever watches hears of a change a moment later, in a turn of its thread. */
import type { Place } from './place.js'

export function watchOf(place: Place) {
  const { thread, process, host } = place

  return function watch(path: string, _options: unknown, listener: (event: string) => void) {
    place.enter(path)
    const inode = place.present(path, 'watch')
    let closed = false
    const told = (event: 'change' | 'rename') => {
      thread.after(host.world.random.int(30, 4_000), () => {
        if (!closed) listener(event)
      })
    }
    inode.watchers.push(told)
    const entry = {
      inode,
      close: () => {
        closed = true
        inode.watchers = inode.watchers.filter((each) => each !== told)
        process.watched.delete(entry)
      }
    }
    process.watched.add(entry)
    const watcher = { close: entry.close, on: () => watcher, unref: () => watcher, ref: () => watcher }
    return watcher
  }
}

/** node:fs, as far as the packages use it, on the simulated disk of the host on which the thread runs. */
import { constants } from 'node:fs'
import type { Thread } from '../kernel/thread.js'
import { descriptorsOf } from './fs/descriptors.js'
import { namesIn } from './fs/names.js'
import { Place } from './fs/place.js'
import { watchOf } from './fs/watch.js'
import { wholeFiles } from './fs/whole-files.js'

export function fileSystem(thread: Thread) {
  const place = new Place(thread)
  const descriptors = descriptorsOf(place)
  return {
    constants,
    ...descriptors,
    ...namesIn(place),
    ...wholeFiles(place, descriptors),
    watch: watchOf(place)
  }
}

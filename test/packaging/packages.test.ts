/** Every package works alone in a project that has nothing else. */

import { testInstalledAlone } from './installed-alone.js'
import { publishedPackages } from './packed-packages.js'

testInstalledAlone(publishedPackages.filter((each) => each.path.startsWith('packages/')))

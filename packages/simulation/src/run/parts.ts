/** What every history needs, made once: the programs, the realms they run in, the place of what the relay depends on. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SandboxPool } from '../kernel/sandbox.js'
import { bundlePrograms } from './bundles.js'
import type { RunParts } from './stage.js'

/** As seen from the built programs of this package. */
export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '../../..')

/** `sources`: the folder whose packages/ and apps/ are run; this repository unless given. */
export async function partsFrom(sources: string = REPOSITORY): Promise<RunParts> {
  return {
    bundles: await bundlePrograms({ sources, repository: REPOSITORY }),
    pool: new SandboxPool(),
    relayPackage: join(REPOSITORY, 'apps/relay/package.json')
  }
}

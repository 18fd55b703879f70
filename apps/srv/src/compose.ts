/** Puts the packages together for one process. What would be a global elsewhere is made here, once. */
import { type Clock, createSystemClock, type InstanceIdentity } from '@agentmux/lease-model'
import { createInstanceIdentity } from '@agentmux/lease-store'
import { channelName, registryRoot, sharedRoot } from './shared-root.js'
import { VERSION } from './version.js'

/** The flags that every command takes. */
export interface CommonFlags {
  readonly sharedDir?: string | undefined
  readonly channel?: string | undefined
  readonly json?: boolean | undefined
}

export interface Composition {
  readonly clock: Clock
  readonly instance: InstanceIdentity
  readonly sharedRoot: string
  readonly registryRoot: string
  readonly channel: string
}

export function compose(flags: CommonFlags, environment: NodeJS.ProcessEnv): Composition {
  const channel = channelName(flags.channel, environment)
  const shared = sharedRoot(flags.sharedDir, environment)
  return {
    clock: createSystemClock(),
    instance: createInstanceIdentity({ channel, version: VERSION }),
    sharedRoot: shared,
    registryRoot: registryRoot(shared),
    channel
  }
}

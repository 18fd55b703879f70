/** The words and the ports that every AgentMux lease package shares. No files, no sockets, no dependency. */
export type { AgentRef } from './agent-ref.js'
export { type CancelTimer, type Clock, sleepWith } from './clock.js'
export { type Holder, type Place, unnamedHolder } from './holder.js'
export { type HostIdentity, hostLabel, type InstanceIdentity, leaseHostname } from './host-identity.js'
export {
  DEFAULT_TTL_MS,
  type LeaseTimings,
  leaseTimings,
  MAX_TTL_MS,
  MIN_TTL_MS
} from './lease-timings.js'
export { createSystemClock } from './system-clock.js'

/** Several computers in one, for tests: see virtual-network.ts. */
export { VirtualHost } from './virtual-host.js'
export { type HostPlan, VirtualNetwork } from './virtual-network.js'

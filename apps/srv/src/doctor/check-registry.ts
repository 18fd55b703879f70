/** The other instances on this computer: who says that it is there, and whether it answers. */
import {
  InstanceClient,
  type InstanceEndpoint,
  OtherInstances,
  ReactiveRegistry
} from '@agentmux/host-admission'
import type { Clock, HostIdentity } from '@agentmux/lease-model'
import { plainText } from '@agentmux/refusals'
import type { Check } from './check.js'

const name = 'other instances'
/** No agent has it: every instance is asked, and none says yes. */
const NOBODY = 'doctor'

export async function checkRegistry(sharedRoot: string, clock: Clock, host: HostIdentity): Promise<Check> {
  const registry = new ReactiveRegistry(sharedRoot, { clock, host })
  const entries = registry.entriesOfOthers()
  if (entries.length === 0) return { name, level: 'ok', seen: 'none is registered' }
  const client = new InstanceClient({ clock })
  const others = new OtherInstances({ registry, client, hostname: host.hostname })
  const probe = await others.probeOtherInstances(`${NOBODY}-${process.pid}-${clock.bootMs()}`)
  const agents = `${entries.length} agent${entries.length === 1 ? '' : 's'}`
  if (probe.kind === 'held' || probe.silent.length === 0) {
    return { name, level: 'ok', seen: `${agents} registered, and whoever registered them answers` }
  }
  const silent = probe.silent.map(({ endpoint, why }) => `${named(endpoint)}: ${why}`)
  return {
    name,
    level: 'warn',
    seen: `${agents} registered, but not everybody answers: ${plainText(silent.join('; '), 500)}`,
    todo: 'If such an instance runs, start it anew: agents it drives cannot be taken over. If not, its entry goes by itself.'
  }
}

function named({ pid, channel }: InstanceEndpoint): string {
  return `pid ${pid}${channel === '' ? '' : `, channel ${plainText(channel, 32)}`}`
}

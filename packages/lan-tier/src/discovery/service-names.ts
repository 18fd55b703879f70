/**
 * Our names on the network: `agentmux-<host>-<port>._agentmux._tcp.local` and `<host>.local`. Both fit into a label of
 * 63 bytes whatever the host is called, and get the same number when somebody else has them already.
 */
export const SERVICE = '_agentmux._tcp.local'
export const SERVICE_TYPES = '_services._dns-sd._udp.local'

const MAX_HOST_PART = 45
const MAX_HOST_LABEL = 63

export interface ServiceNames {
  readonly label: string
  /** The label with the service behind it. */
  readonly instance: string
  readonly host: string
}

/** `attempt` 1 is the name as it should be; 2 and up add that number to the host's part. */
export function serviceNames(hostname: string, port: number, attempt = 1): ServiceNames {
  const suffix = attempt > 1 ? `-${attempt}` : ''
  const plain = hostname.trim() || 'unknown'
  const hostPart = plain.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, MAX_HOST_PART - suffix.length)
  const label = `agentmux-${hostPart}${suffix}-${port}`
  return { label, instance: `${label}.${SERVICE}`, host: `${hostLabelOf(plain, suffix)}.local` }
}

/** The first label alone: a host called mill.local or mill.example.org is mill.local here, as the system's own responder has it. */
function hostLabelOf(hostname: string, suffix: string): string {
  const first = hostname.split('.', 1)[0] ?? ''
  const safe = first.replace(/[^A-Za-z0-9-]/gu, '-').slice(0, MAX_HOST_LABEL - suffix.length)
  return `${safe.replace(/^-+|-+$/g, '') || 'unknown'}${suffix}`
}

/** The label of an instance name of our service, if it is one that can be asked for again. */
export function labelOf(instance: string): string | undefined {
  const at = instance.length - SERVICE.length - 1
  if (at <= 0 || instance[at] !== '.' || instance.slice(at + 1).toLowerCase() !== SERVICE) return undefined
  const label = instance.slice(0, at)
  // The decoder joins labels with dots and replaces what is not UTF-8: such a name would go out as another one.
  return label.includes('.') || label.includes('\ufffd') || Buffer.byteLength(label) > 63 ? undefined : label
}

/** Which machine and which of its namespaces a process lives in. Built once per process by whoever can read it. */
export interface HostIdentity {
  /** OS host name, trimmed and lower-cased; empty if there is none. This is the form inside a lease. */
  readonly hostname: string
  /** Changes at every boot of the kernel, shared by all its containers; empty where the system has none. */
  readonly hostBootId: string
  /** Inode of the pid namespace; 0 where unknown. Pids are comparable only within one. */
  readonly pidNs: number
  /** Inode of the time namespace; 0 where unknown. Boot-relative times are comparable only within one. */
  readonly timeNs: number
  /** Whether this is the first pid namespace, the one whose pids an older build on the host sees. */
  readonly initialPidNs: boolean
}

/** Which program start this is: the owner of leases. */
export interface InstanceIdentity {
  /** A UUIDv4 made at process start. Two instances never share one. */
  readonly ownerBootId: string
  readonly channel: string
  readonly version: string
  readonly pid: number
  /** Start of the process in clock ticks since boot (field 22 of /proc/PID/stat); 0 where unknown. */
  readonly pidStartTicks: number
}

/** The host name as it stands inside a lease: trimmed, lower-cased, empty if there is none. */
export function leaseHostname(osHostname: string): string {
  return osHostname.trim().toLowerCase()
}

/** The host name as people and the relay read it: the same, but `unknown` if there is none. */
export function hostLabel(osHostname: string): string {
  return leaseHostname(osHostname) || 'unknown'
}

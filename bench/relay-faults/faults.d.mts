import type { EtcdCluster } from '../relay/etcd-cluster.mjs'

export interface Fault {
  break(cluster: EtcdCluster): Promise<() => void>
}

export declare const FAULTS: Readonly<Record<string, Fault>>
/** Only for a cluster with cables. */
export declare const PARTITIONS: Readonly<Record<string, Fault>>

export declare function duringStorm(
  fault: Fault,
  cluster: EtcdCluster,
  claims: number
): { onClaim(count: number): void; done(): Promise<number> }

/** On three members, as it is meant to be run. */
import { afterAll, beforeAll } from 'vitest'
import { EtcdCluster } from '../../../../bench/relay/etcd-cluster.mjs'
import { openEtcd } from '../harness/etcd-store.js'
import { storeContract } from './store-contract.js'

let cluster: EtcdCluster
beforeAll(async () => {
  cluster = await EtcdCluster.start(3)
})
afterAll(() => cluster?.stop())

storeContract('etcd', (limits) => openEtcd(cluster.urls, limits))

/** Whether etcd answers, how many members it has, and whether it has room. */
import { EtcdClient } from '../store/etcd/etcd-client.js'
import { KEYS } from '../store/etcd/etcd-keys.js'
import type { Check } from './check.js'

const name = 'etcd'
/** Of the quota that etcd has by default, 2 GiB. */
const LARGE_BYTES = 1.5 * 1024 ** 3

export async function checkEtcd(hosts: readonly string[]): Promise<Check[]> {
  const checks = await Promise.all(hosts.map(checkMember))
  const etcd = new EtcdClient(hosts)
  try {
    const agents = await etcd.count(KEYS.records())
    const relays = await etcd.count(KEYS.servings)
    return [
      ...checks,
      { name, level: 'ok', seen: `a majority answers: ${agents} agents, ${relays} relays serve` }
    ]
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error)
    return [
      ...checks,
      {
        name,
        level: 'fail',
        seen: `no majority answers: ${seen}`,
        todo: 'Until more members run, all is unavailable.'
      }
    ]
  } finally {
    etcd.close()
  }
}

async function checkMember(host: string): Promise<Check> {
  const etcd = new EtcdClient([host])
  try {
    const { version, dbSize, leader } = await etcd.call(() => etcd.raw.maintenance.status())
    const seen = `${host}: etcd ${version}, ${Math.round(Number(dbSize) / 1024 / 1024)} MiB`
    if (leader === '0')
      return { name, level: 'fail', seen: `${seen}, no leader`, todo: 'Start the other members.' }
    if (Number(dbSize) < LARGE_BYTES) return { name, level: 'ok', seen }
    return {
      name,
      level: 'warn',
      seen,
      todo: 'It nears its quota: compact and defragment, or raise the quota.'
    }
  } catch {
    return {
      name,
      level: 'warn',
      seen: `${host} does not answer`,
      todo: 'Start it, or leave it out of --etcd.'
    }
  } finally {
    etcd.close()
  }
}

/** Run under strace: `traced.mjs FOLDER OPERATION N` does the operation N times, after the same set-up for every N. */
import { loadPackage } from '../measuring/packages.mjs'
import { ours } from './peers.mjs'

const [folder = '', operation = '', count = ''] = process.argv.slice(2)
const leaseStore = await loadPackage('lease-store')
const holder = ours(leaseStore, folder)
const other = ours(leaseStore, folder)
await holder.hold('held')
await other.pairs('other', 1)
if (operation === 'refused') await other.refused('held', Number(count))
else await holder[operation](operation === 'pairs' ? 'other' : 'held', Number(count))

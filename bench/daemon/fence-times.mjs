/** Runs the holder that times the fence, in a process of its own: ready first, started when told to. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const HOLDER = fileURLToPath(new URL('fence-holder.mjs', import.meta.url))
/** Sparse: it is to feel the load, not to be one. */
const PER_SECOND = 200

/** Resolves when it holds its leases. `times` resolves with the distributions of the calls, microseconds. */
export async function fenceHolder(root, { leases, seconds }) {
  const args = [HOLDER, root, leases, PER_SECOND, seconds].map(String)
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the holder that times the fence has ended')
    return value
  }
  await line()
  return {
    pid: child.pid,
    start: () => child.stdin.write('\n'),
    times: line().then(JSON.parse),
    end: () => child.stdin.end()
  }
}

/** Starts the built daemon on a folder of its own, asks it over HTTP, and ends it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { builtFile, isBuilt } from '../measuring/packages.mjs'

const CLI = 'apps/srv/dist/cli.js'
const CHANNEL = 'bench'
const CONNECTIONS = 256
const running = new Set()

process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})

/** Resolves once it answers. `nodeArguments`: for the Node that runs it, a profiler say. */
export async function startDaemon(shared, nodeArguments = []) {
  if (!isBuilt(CLI)) {
    process.stderr.write(`${builtFile(CLI)} is missing: build first (npm run build)\n`)
    process.exit(69)
  }
  const logPath = join(shared, 'daemon.log')
  const log = openSync(logPath, 'a')
  const args = [
    ...nodeArguments,
    builtFile(CLI),
    'serve',
    '--shared-dir',
    shared,
    '--channel',
    CHANNEL,
    '--json'
  ]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', log],
    env: withoutOurs(process.env)
  })
  running.add(child)
  const ended = once(child, 'exit').then(([code, signal]) => {
    running.delete(child)
    return signal ?? code
  })
  const first = await Promise.race([once(child.stdout, 'data'), ended])
  if (!Array.isArray(first))
    throw new Error(`the daemon ended with ${first}:\n${readFileSync(logPath, 'utf8')}`)
  child.stdout.resume()
  const { url, auth_key: key } = JSON.parse(
    readFileSync(join(shared, 'agents', 'srv', `${CHANNEL}.json`), 'utf8')
  )
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const { hostname, port } = new URL(url)
  return {
    pid: child.pid,
    /** Calls back once, with `error`, or with `status` and `text` when the answer has been read to its end. */
    ask: (method, path, body, answered) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const headers = {
        'x-authkey': key,
        ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length })
      }
      const asked = request({ agent, hostname, port, method, path, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk) => {
          text += chunk
        })
        answer.once('end', () => answered({ status: answer.statusCode, text }))
        answer.once('error', (error) => answered({ error }))
      })
      asked.once('error', (error) => answered({ error }))
      asked.end(bytes)
    },
    /** Ends it and its panes. */
    end: async () => {
      agent.destroy()
      child.kill('SIGTERM')
      const how = await ended
      if (how !== 0) throw new Error(`the daemon ended with ${how}:\n${readFileSync(logPath, 'utf8')}`)
    }
  }
}

/** `count` panes of one command. The pids of their children and their blocks, in the order of opening. */
export async function openPanes(daemon, { count, command }) {
  const panes = []
  const open = async (index) => {
    const body = { uid: `agent-${index}`, command }
    const { error, status, text } = await new Promise((resolve) => {
      daemon.ask('POST', '/api/v1/agents', body, resolve)
    })
    if (status !== 201)
      throw new Error(`pane ${index} was not opened: ${error?.message ?? `${status} ${text}`}`)
    const { block_id: blockId, pid } = JSON.parse(text)
    panes.push({ blockId, pid })
  }
  let next = 0
  const several = Array.from({ length: 8 }, async () => {
    while (next < count) await open(next++)
  })
  await Promise.all(several)
  return panes
}

/** Whoever runs this inside a pane measures another daemon. */
function withoutOurs(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('AGENTMUX_')))
}

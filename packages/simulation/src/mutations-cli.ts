/**
 * `simulate:mutations`: breaks the packages on purpose, one fault at a time, in a copy of their sources, and tells how many
 * seeds it took to notice. A fault that stays unnoticed is an error.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SandboxPool } from './kernel/sandbox.js'
import { bundlePrograms } from './run/bundles.js'
import { runHistory } from './run/history-of.js'
import { planOf, type Shape, type Tier } from './run/plan.js'
import { SITUATIONS } from './run/situations.js'

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const PATCHES = join(REPOSITORY, 'packages/simulation/mutations')
const COPIED = ['packages', 'apps'].flatMap((kind) =>
  readdirSync(join(REPOSITORY, kind)).map((name) => join(kind, name, 'src'))
)

const USAGE = `usage: simulate mutations [--seeds N] [--first SEED] [FAULT…]
FAULT: names, or parts of names, of packages/simulation/mutations; all of them unless given
example: npm run simulate -- mutations --seeds 200 11- 24-
`

const { flags, wanted } = options()

function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seeds: { type: 'string', default: '3000' },
        first: { type: 'string', default: '1' },
        help: { type: 'boolean', short: 'h' }
      }
    })
    if (values.help) {
      process.stdout.write(USAGE)
      process.exit(0)
    }
    for (const name of ['seeds', 'first'] as const) {
      if (!/^\d{1,9}$/.test(values[name]))
        throw new Error(`--${name} must be a whole number, not ${values[name]}`)
    }
    return { flags: values, wanted: positionals }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}`)
    process.exit(64)
  }
}

/** What a broken program throws and nobody catches is no news here. */
process.on('unhandledRejection', () => {})

interface Found {
  readonly seeds: number
  readonly rule: string
  readonly what: string
}

async function tryPatch(file: string): Promise<Found | string> {
  const folder = mkdtempSync(join(tmpdir(), 'agentmux-mutation-'))
  try {
    for (const part of COPIED) {
      if (existsSync(join(REPOSITORY, part)))
        cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true })
    }
    const applied = spawnSync('git', ['apply', '--whitespace=nowarn', file], {
      cwd: folder,
      encoding: 'utf8'
    })
    if (applied.status !== 0) return `does not apply: ${applied.stderr.trim()}`
    const parts = {
      bundles: await bundlePrograms({ sources: folder, repository: REPOSITORY }),
      pool: new SandboxPool(),
      relayPackage: join(REPOSITORY, 'apps/relay/package.json')
    }
    const shape = shapeOf(readFileSync(file, 'utf8'))
    const first = Number(flags.first)
    for (let seed = first; seed < first + Number(flags.seeds); seed++) {
      const { violation } = runHistory(planOf(seed, shape), parts)
      await new Promise((resolve) => setImmediate(resolve))
      if (violation !== undefined)
        return { seeds: seed - first + 1, rule: violation.rule, what: violation.what }
    }
    return `not found in ${flags.seeds} seeds`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In the head of the patch: `Shape: HOSTS AGENTS [TIER [SITUATION | messages | older N]]`. */
function shapeOf(patch: string): Shape {
  const [, hosts = '1', agents = '2', tier, named, older] =
    /^Shape: (\d+) (\d+)(?: (lan|relay|none)(?: ([a-z-]+)(?: (\d+))?)?)?$/m.exec(patch) ?? []
  const situation = SITUATIONS.find((name) => name === named)
  return {
    hosts: Number(hosts),
    agents: Number(agents),
    ...(tier === undefined ? {} : { tier: tier as Tier }),
    ...(situation === undefined ? {} : { situation }),
    ...(named === 'messages' ? { messages: true } : {}),
    ...(named === 'older' ? { older: Number(older) } : {})
  }
}

let unnoticed = 0
const names = readdirSync(PATCHES)
  .filter(
    (name) => name.endsWith('.patch') && (wanted.length === 0 || wanted.some((part) => name.includes(part)))
  )
  .sort()
for (const name of names) {
  const found = await tryPatch(join(PATCHES, name))
  const fault = name.replace(/^\d+-|\.patch$/g, '').replaceAll('-', ' ')
  if (typeof found === 'string') unnoticed++
  const verdict =
    typeof found === 'string'
      ? `UNNOTICED  ${found}`
      : `${String(found.seeds).padStart(5)} seeds  ${found.rule}: ${found.what}`
  console.log(`${fault.padEnd(44)} ${verdict.split('\n')[0]}`)
}
console.log(`${names.length - unnoticed} of ${names.length} faults found`)
process.exitCode = unnoticed === 0 ? 0 : 1

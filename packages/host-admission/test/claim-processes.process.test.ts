import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createSystemClock } from '@agentmux/lease-model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ClaimLook } from '../src/claim-look.js'
import { endClaimProcesses, findClaimProcesses } from '../src/claim-processes.js'
import { agentLines } from './fixture/audit.js'
import { compileProgram } from './fixture/compile.js'
import { carrying, eventually, runs, signalAll, stateOf } from './fixture/running.js'
import { fixture, Scratch } from './fixture/scratch.js'

const clock = createSystemClock()
let scratch: Scratch
let claimId: string

beforeEach(() => {
  scratch = new Scratch()
  claimId = randomUUID()
})
afterEach(() => scratch.dispose([claimId]))

const MARK = () => ({ AGENTMUX_CLAIM_ID: claimId })

/** A process that carries the claim, once its environment says so. */
async function carrier(command: string[], env: NodeJS.ProcessEnv = MARK()): Promise<number> {
  const [file = '', ...args] = command
  const { pid = 0 } = scratch.spawn(file, args, env)
  await eventually('it carries the claim', () => carrying(claimId).includes(pid))
  return pid
}

async function agent(env: NodeJS.ProcessEnv = {}): Promise<number[]> {
  const log = scratch.path('agent.log')
  await carrier(['sh', fixture('agent.sh'), log, 'shim'], { ...MARK(), ...env })
  const roles = ['shim', 'native', 'grandchild']
  await eventually('the agent and its children run', () =>
    roles.every((role) => agentLines(log).some((line) => line.role === role))
  )
  return agentLines(log)
    .filter(({ what }) => what === 'begin')
    .map(({ pid }) => pid)
}

const end = (graceMs: number, options = {}) =>
  endClaimProcesses(claimId, { clock, graceMs, trusted: true, ...options })

describe('looking for the processes of a claim', () => {
  it('finds everything that carries its id, whatever started it, and nothing else', async () => {
    const pids = await agent()
    const found = (await findClaimProcesses(claimId)).map(({ pid }) => pid)
    expect(found).toEqual(expect.arrayContaining(pids))
    expect(found).not.toContain(process.pid)
    expect(await findClaimProcesses(randomUUID())).toEqual([])
    expect(await findClaimProcesses('')).toEqual([])
  })

  it('names a process by its program and script, without the arguments: they may hold secrets', async () => {
    const pid = await carrier(['sh', '-c', 'sleep 600; true', 'sh', '--token=hunter2'])
    const found = (await findClaimProcesses(claimId)).find((entry) => entry.pid === pid)
    expect(found?.command).toBe('sh')
    await carrier(['sh', fixture('agent.sh'), scratch.path('log'), 'secret'])
    const commands = (await findClaimProcesses(claimId)).map(({ command }) => command)
    expect(commands).toContain(`sh ${fixture('agent.sh')}`)
    expect(commands.join()).not.toContain('secret')
  })

  it('finds a process in the middle of an exec', async () => {
    const program = compileProgram('again')
    const { pid = 0 } = scratch.spawn(program, [], MARK())
    await eventually('it runs', () => runs(pid))
    const look = new ClaimLook()
    for (let looks = 0; looks < 300; looks++) {
      const { carriers, unsettled } = await look.find(claimId)
      // One that execs without a pause may stay in between: then it is reported as such, never overlooked.
      expect([...carriers, ...unsettled].map((entry) => entry.pid)).toEqual([pid])
    }
  })

  it('finds a process whose first thread has ended', async () => {
    const { pid = 0 } = scratch.spawn(compileProgram('headless'), [], MARK())
    await eventually('its first thread has ended', () => runs(pid) === false)
    expect((await findClaimProcesses(claimId)).map((entry) => entry.pid)).toEqual([pid])
    expect(await end(60_000)).toEqual({ kind: 'ended', count: 1 })
    expect(await findClaimProcesses(claimId)).toEqual([])
  })

  it('serves any number of callers, each with its own claim, from a few looks', async () => {
    const pid = await carrier(['sleep', '600'])
    const look = new ClaimLook()
    const others = Array.from({ length: 10_000 }, () => randomUUID())
    const found = await Promise.all([claimId, ...others].map((each) => look.find(each)))
    expect(found[0]?.carriers.map((entry) => entry.pid)).toEqual([pid])
    expect(found.slice(1).every(({ carriers }) => carriers.length === 0)).toBe(true)
  })

  it('serves who asks during a look from the next one: what was started before it asked is found', async () => {
    const look = new ClaimLook()
    const early = look.find(claimId)
    await Promise.resolve()
    await Promise.resolve()
    const pid = await carrier(['sleep', '600'])
    const late = look.find(claimId)
    await early
    expect((await late).carriers.map((entry) => entry.pid)).toEqual([pid])
  })
})

describe('ending the processes of a claim', () => {
  it('lets them end in order, the shim, its native child and the grandchild in a session of its own', async () => {
    const pids = await agent()
    expect(pids).toHaveLength(3)
    // No SIGKILL comes within the test.
    expect(await end(600_000)).toMatchObject({ kind: 'ended' })
    expect(pids.some(runs)).toBe(false)
    const ends = agentLines(scratch.path('agent.log')).filter(({ what }) => what === 'end')
    expect(ends.map(({ role }) => role).sort()).toEqual(['grandchild', 'native'])
  })

  it('kills after the grace what ignores SIGTERM', async () => {
    const pids = await agent({ STUBBORN: '1' })
    expect(await end(50)).toMatchObject({ kind: 'ended' })
    expect(pids.some(runs)).toBe(false)
  })

  it('does not wait for a stopped process to hear SIGTERM, nor let it go on', async () => {
    const log = scratch.path('agent.log')
    const pid = await carrier(['sh', fixture('agent.sh'), log, 'alone'])
    await eventually('it runs', () => agentLines(log).length > 0)
    await eventually('all of it has stopped', () => {
      signalAll(carrying(claimId), 'SIGSTOP')
      return carrying(claimId).every((each) => ['T', 'D'].includes(stateOf(each) ?? ''))
    })
    const lines = agentLines(log).length
    expect(await end(600_000)).toMatchObject({ kind: 'ended' })
    expect(runs(pid)).toBe(false)
    expect(agentLines(log)).toHaveLength(lines)
  })

  it('ends those too that are born while it goes on', async () => {
    // Each process starts the next one and ends, hundreds of times.
    const script = 'trap "" TERM; [ $1 = 0 ] || setsid sh -c "$0" "$0" $(($1 - 1)) & exit 0'
    scratch.spawn('sh', ['-c', script, script, '500'], MARK())
    await eventually('it has begun', () => carrying(claimId).length > 0)
    const ended = await end(0)
    if (ended.kind === 'ended') {
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(carrying(claimId)).toEqual([])
    } else {
      // A chain that outruns every look is reported, never taken for ended.
      expect(ended.processes.length).toBeGreaterThan(0)
    }
  })

  it('leaves everything alone if others could have written the lease', async () => {
    const pid = await carrier(['sleep', '600'])
    const ended = await end(0, { trusted: false })
    expect(ended).toEqual({
      kind: 'remaining',
      processes: [{ pid, command: 'sleep', because: 'untrusted-lease' }]
    })
    expect(runs(pid)).toBe(true)
  })

  it.runIf(process.getuid?.() === 0)('ends what it may of a claim of ours, and names the rest', async () => {
    const other = await carrier(['setpriv', '--reuid=65534', '--clear-groups', 'sleep', '600'])
    const own = await carrier(['sleep', '600'])
    expect(await end(600_000, { partly: true })).toEqual({
      kind: 'remaining',
      processes: [{ pid: other, command: 'sleep', because: 'another-user' }]
    })
    expect(runs(own)).toBe(false)
    expect(runs(other)).toBe(true)
  })

  it.runIf(process.getuid?.() === 0)(
    'names the recorded driver that runs as another user and shows nobody what it carries',
    async () => {
      const pid = await carrier(['sleep', '600'])
      const { describeProcess } = await import('../src/process-table.js')
      const recorded = { pid, startTicks: describeProcess(pid)?.startTicks ?? 0 }
      // Whoever is not root may not read the environment of root's processes, as with sudo.
      process.seteuid?.(65_534)
      try {
        expect(await end(0, { recorded })).toEqual({
          kind: 'remaining',
          processes: [{ pid, command: 'sleep', because: 'another-user' }]
        })
        // Another process that has the pid by now drove nothing.
        expect(await end(0, { recorded: { pid, startTicks: 1 } })).toEqual({ kind: 'ended', count: 0 })
      } finally {
        process.seteuid?.(0)
      }
      expect(runs(pid)).toBe(true)
    }
  )

  it('ends a child of ours that has wiped its environment, if it is said to drive', async () => {
    const { pid = 0 } = scratch.spawn('env', ['-i', 'sleep', '600'], MARK())
    await eventually('it has wiped its environment', () => carrying(claimId).length === 0)
    const { describeProcess } = await import('../src/process-table.js')
    expect(await end(600_000, { driver: describeProcess(pid) })).toEqual({ kind: 'ended', count: 1 })
    expect(runs(pid)).toBe(false)
  })

  it('does not touch the process that has the pid of an ended driver now', async () => {
    const { pid = 0 } = scratch.spawn('sleep', ['600'])
    const { describeProcess } = await import('../src/process-table.js')
    await eventually('it runs', () => describeProcess(pid)?.command === 'sleep')
    const reused = { ...describeProcess(pid), startTicks: 1 }
    expect(await end(0, { driver: reused })).toEqual({ kind: 'ended', count: 0 })
    expect(runs(pid)).toBe(true)
  })

  it('stops at an abort, at any point', async () => {
    const pid = await carrier(['sh', fixture('agent.sh'), scratch.path('log'), 'alone'], {
      ...MARK(),
      STUBBORN: '1'
    })
    await eventually('it runs', () => existsSync(scratch.path('log')))
    const abort = new AbortController()
    const ending = end(600_000, { signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 50)
    await expect(ending).rejects.toThrow('enough')
    expect(runs(pid)).toBe(true)
    await expect(end(0, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
  })
})

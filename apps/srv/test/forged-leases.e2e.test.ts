/** A lease file says whom to end, and anyone who can write it could say anything: nothing is signalled on its word (R15). */
import { randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { putLease, type RecordFields, record } from './harness/lease-record.js'
import { lives, startTicksOf } from './harness/processes.js'
import { quoted, type Scene, test } from './harness/scene.js'
import { standIn } from './harness/stand-in.js'
import { until } from './harness/until.js'

/** Runs over a forged lease, and returns how it ended and every signal that it sent, to whom and which. */
async function runOver(scene: Scene, fields: RecordFields) {
  putLease(scene, record(scene, fields))
  const killLog = scene.newPath('kill-log')
  const run = scene.run(['sh', '-c', 'echo $AGENTMUX_LEASE_EPOCH'], {
    flags: ['-n'],
    environment: standIn(scene, { killLog })
  })
  const ended = await run.ended
  return { ...ended, signals: signalsOf(scene, killLog, run.pid) }
}

function signalsOf(scene: Scene, killLog: string, from: number): string[] {
  return scene
    .lines(killLog)
    .flatMap((line) => (line.startsWith(`${from} `) ? [line.slice(`${from} `.length)] : []))
}

/** A process of ours that would say if it was signalled. */
async function bystander(scene: Scene, environment: Record<string, string> = {}) {
  const name = `bystander-${randomUUID().slice(0, 8)}`
  const process = scene.start(scene.agent(name), { environment })
  await scene.audited(name, 'begin')
  const heard = () => scene.auditLines().filter((line) => line.name === name && line.event === 'signal')
  return { pid: process.pid, heard }
}

describe('run, over a forged lease', () => {
  test('whose recorded child is some other process of ours: granted, and that process is left alone', async ({
    scene
  }) => {
    const { pid, heard } = await bystander(scene)
    const { code, stdout, signals } = await runOver(scene, {
      driver_pid: pid,
      driver_start_ticks: startTicksOf(pid)
    })
    expect({ code, stdout, signals }).toEqual({ code: 0, stdout: '8\n', signals: [] })
    expect(lives(pid)).toBe(true)
    expect(heard()).toEqual([])
  })

  test('whose recorded child is pid 1: nothing is signalled', async ({ scene }) => {
    const { code, signals } = await runOver(scene, { driver_pid: 1, driver_start_ticks: startTicksOf(1) })
    expect({ code, signals }).toEqual({ code: 0, signals: [] })
  })

  test('whose recorded child is the run’s own parent: nothing is signalled', async ({ scene }) => {
    const fields = { driver_pid: process.pid, driver_start_ticks: startTicksOf(process.pid) }
    const { code, signals } = await runOver(scene, fields)
    expect({ code, signals }).toEqual({ code: 0, signals: [] })
  })

  test('whose claim the run’s own parent carries: refused, naming it, and nothing is signalled', async ({
    scene
  }) => {
    const claim = randomUUID()
    putLease(scene, record(scene, { claim_id: claim }))
    const killLog = scene.newPath('kill-log')
    const words = scene
      .runWords(['true'], { flags: ['-n'] })
      .map(quoted)
      .join(' ')
    const parent = scene.start(['sh', '-c', `${words}; echo "exit $?"`], {
      environment: { ...standIn(scene, { killLog }), AGENTMUX_CLAIM_ID: claim }
    })
    const { stdout, stderr } = await parent.ended
    expect(stdout).toBe('exit 75\n')
    expect(stderr).toContain(`pid ${parent.pid}`)
    expect(stderr).toContain('is this command itself, or what started it')
    expect(scene.lines(killLog)).toEqual([])
  })

  test('whose claim a process of another user carries: refused or not seen, and that process is left alone', async ({
    scene
  }) => {
    // As root we can start one and read its environment; as anybody else we can do neither, and pid 1 is not ours.
    if (process.geteuid?.() !== 0) {
      const { signals } = await runOver(scene, { driver_pid: 1, driver_start_ticks: startTicksOf(1) })
      expect(signals).toEqual([])
      return
    }
    const claim = randomUUID()
    const other = scene.start(['setpriv', '--reuid=65534', '--clear-groups', 'sleep', '600'], {
      environment: { AGENTMUX_CLAIM_ID: claim }
    })
    await until('it runs as the other user', () => scene.commandOf(other.pid).startsWith('sleep'))
    const { code, stderr, signals } = await runOver(scene, { claim_id: claim })
    expect({ code, signals }).toEqual({ code: 75, signals: [] })
    expect(stderr).toContain(`pid ${other.pid}`)
    expect(stderr).toContain('belongs to another user')
    expect(lives(other.pid)).toBe(true)
  })

  test('in a folder that others can write: refused, naming what it left alone', async ({ scene }) => {
    const claim = randomUUID()
    const { pid, heard } = await bystander(scene, { AGENTMUX_CLAIM_ID: claim })
    putLease(scene, record(scene, { claim_id: claim }))
    chmodSync(scene.leases, 0o777)
    const { code, stderr, signals } = await runOver(scene, { claim_id: claim })
    expect({ code, signals }).toEqual({ code: 75, signals: [] })
    expect(stderr).toContain(`pid ${pid}`)
    expect(stderr).toContain('was not ended, as others can write the lease that names it')
    expect(heard()).toEqual([])
  })

  test('in a file that others can write: refused, naming what it left alone', async ({ scene }) => {
    const claim = randomUUID()
    const { pid, heard } = await bystander(scene, { AGENTMUX_CLAIM_ID: claim })
    putLease(scene, record(scene, { claim_id: claim }))
    chmodSync(scene.leaseFile(), 0o666)
    const { code, stderr, signals } = await runOver(scene, { claim_id: claim })
    expect({ code, signals }).toEqual({ code: 75, signals: [] })
    expect(stderr).toContain(`pid ${pid}`)
    expect(heard()).toEqual([])
  })

  test('without a claim id: no process without one is taken for its own', async ({ scene }) => {
    const { pid, heard } = await bystander(scene, { AGENTMUX_CLAIM_ID: '' })
    const { code, signals } = await runOver(scene, { claim_id: '', driver_pid: pid })
    expect({ code, signals }).toEqual({ code: 0, signals: [] })
    expect(heard()).toEqual([])
  })

  test('an honest one, for comparison: the process that carries its claim is ended', async ({ scene }) => {
    const claim = randomUUID()
    const { pid, heard } = await bystander(scene, { AGENTMUX_CLAIM_ID: claim })
    const { code, signals } = await runOver(scene, { claim_id: claim })
    expect({ code, signals }).toEqual({ code: 0, signals: [`${pid} 15`] })
    expect(heard()).toMatchObject([{ signal: 'SIGTERM' }])
    expect(lives(pid)).toBe(false)
  })
})

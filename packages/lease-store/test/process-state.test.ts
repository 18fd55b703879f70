/** Whether a process runs, and since when. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ownStartTicks, parseStat, processState } from '../src/process-state.js'

const STAT =
  '812 (node) S 1 812 812 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 11 0 987654 1 1 18446744073709551615 1 1 1 0 0 0 0'

describe('what /proc says', () => {
  it('is read after the last parenthesis of the name', () => {
    expect(parseStat(STAT)).toEqual({ kind: 'alive', startTicks: 987_654 })
    expect(parseStat(STAT.replace('node', 'a) Z 1 (b'))).toEqual({ kind: 'alive', startTicks: 987_654 })
    expect(parseStat(STAT.replace('node', ') S 1 2 3'))).toEqual({ kind: 'alive', startTicks: 987_654 })
  })

  it.each(['R', 'S', 'D', 'T', 't', 'I'])('in state %s is alive', (state) => {
    expect(parseStat(STAT.replace(') S', `) ${state}`)).kind).toBe('alive')
  })

  it('of a zombie is gone, unless threads of it go on', () => {
    expect(parseStat(STAT.replace(') S', ') Z').replace(' 11 0 987654', ' 1 0 987654'))).toEqual({
      kind: 'gone'
    })
    expect(parseStat(STAT.replace(') S', ') Z'))).toEqual({ kind: 'alive', startTicks: 987_654 })
    expect(parseStat(STAT.replace(') S', ') X'))).toEqual({ kind: 'gone' })
  })

  it('when it makes no sense leaves the start unknown and the process alive', () => {
    expect(parseStat('')).toEqual({ kind: 'alive', startTicks: 0 })
    expect(parseStat('garbage')).toEqual({ kind: 'alive', startTicks: 0 })
  })
})

describe('a process', () => {
  it('of our own is alive, with the start that /proc gives', () => {
    const field22 = Number(readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ')[19])
    expect(processState(process.pid)).toEqual({ kind: 'alive', startTicks: field22 })
    expect(ownStartTicks()).toBe(field22)
  })

  it('of another user is alive', () => {
    expect(processState(1)).toMatchObject({ kind: 'alive' })
  })

  it('that has ended is gone', () => {
    expect(processState(spawnSync(process.execPath, ['-e', '0']).pid)).toEqual({ kind: 'gone' })
  })

  it('that has ended and whose parent does not care is gone', async () => {
    const { parent, zombie } = await withZombie()
    onTestFinished(() => {
      parent.kill('SIGKILL')
    })
    await expect.poll(() => readFileSync(`/proc/${zombie}/stat`, 'latin1')).toContain(') Z ')
    expect(processState(zombie)).toEqual({ kind: 'gone' })
  })

  it('has the same start under every locale and time zone', () => {
    const child = (env: NodeJS.ProcessEnv) =>
      spawnSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `import { processState } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
           console.log(JSON.stringify(processState(${process.pid})))`
        ],
        { encoding: 'utf8', env: { ...process.env, ...env } }
      ).stdout
    const expected = `${JSON.stringify(processState(process.pid))}\n`
    expect(child({ LC_ALL: 'C', TZ: 'UTC' })).toBe(expected)
    expect(child({ LC_ALL: 'de_DE.UTF-8', TZ: 'Asia/Kolkata' })).toBe(expected)
  })
})

/** A shell becomes a program that never waits for the child it inherits. */
async function withZombie(): Promise<{ parent: ChildProcess; zombie: number }> {
  const parent = spawn('sh', ['-c', 'sh -c "exit 0" & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const [line] = await once(parent.stdout as NodeJS.ReadableStream, 'data')
  return { parent, zombie: Number(String(line)) }
}

/** A record on a disk that is full: what was acknowledged stays, what failed says so, and writing goes on with room. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildWriter, Writer } from './record-scene.js'

let built: Awaited<ReturnType<typeof buildWriter>>
let place: string

beforeAll(async () => {
  built = await buildWriter()
  place = mkdtempSync(join(tmpdir(), 'agent-record-full-'))
})

afterAll(() => {
  built.remove()
  rmSync(place, { recursive: true, force: true })
})

interface SmallDisk {
  readonly via: readonly string[]
  readonly errno: string
  /** Takes room on the disk until it is removed. Empty where room cannot be given back. */
  readonly ballast: string
}

/** Anybody: the file may not grow beyond a size; the write that crosses it is cut short like on a full disk. */
function limitedFile(): SmallDisk {
  return { via: ['bash', '-c', `trap '' XFSZ; ulimit -f 700; exec "$0" "$@"`], errno: 'EFBIG', ballast: '' }
}

/** Root, or anybody where user namespaces are allowed: a small tmpfs that only the writer sees. */
function smallDisk(root: string): SmallDisk {
  const ballast = join(root, 'ballast')
  const script = `mount -t tmpfs -o size=1m none ${root} && head -c 300000 /dev/zero > ${ballast} && exec "$0" "$@"`
  for (const flags of ['-m', '-rm']) {
    const via = ['unshare', flags, 'sh', '-c', script]
    const [command, ...args] = via
    if (spawnSync(command as string, [...args, 'true']).status === 0) return { via, errno: 'ENOSPC', ballast }
  }
  return limitedFile()
}

/** Runs a writer until its disk is full and on, and returns what it said. */
async function fill(root: string, disk: SmallDisk, lineBytes: number): Promise<string[]> {
  const order = {
    root,
    uid: 'uid-1',
    do: 'fill',
    writer: 'w',
    epoch: 5,
    linesPerBatch: 20,
    lineBytes
  } as const
  const options = disk.ballast === '' ? {} : { ballast: disk.ballast }
  const writer = new Writer(built.program, { ...order, ...options }, disk.via)
  await writer.exited
  expect(writer.child.exitCode).toBe(0)
  return writer.said
}

function acknowledged(said: readonly string[]): number[] {
  return said.flatMap((line) => {
    const match = /^ack (\d+) (\d+)$/.exec(line)
    return match === null ? [] : Array.from({ length: Number(match[2]) }, (_, n) => Number(match[1]) + n)
  })
}

test.each([
  ['a full disk', 'disk', 300],
  ['a full disk, long lines', 'disk', 9_000],
  ['a file that may not grow', 'limit', 300],
  ['a file that may not grow, long lines', 'limit', 9_000]
])('%s: the append fails with its reason, and every acknowledged line stays', async (_, kind, lineBytes) => {
  const root = mkdtempSync(join(place, 'root-'))
  mkdirSync(root, { recursive: true })
  const disk = kind === 'disk' ? smallDisk(root) : limitedFile()
  const said = await fill(root, disk, lineBytes)

  const full = said.indexOf('full')
  expect(acknowledged(said.slice(0, full)).length).toBeGreaterThan(20)
  expect(said.slice(0, full).find((line) => line.startsWith('fault'))).toMatch(`fault io ${disk.errno} `)
  // Then room again, and the writer goes on.
  expect(said.slice(full).some((line) => line.startsWith('ack'))).toBe(true)
  const lines = said.flatMap((line) => /^line \d+ (\d+)$/.exec(line)?.[1] ?? []).map(Number)
  expect(lines).toEqual(acknowledged(said))
  expect(said.filter((line) => line.startsWith('damage')).length).toBeLessThanOrEqual(2)
})

test('a full disk that has no room for a higher epoch leaves the one that was', async () => {
  const root = mkdtempSync(join(place, 'root-'))
  const disk = smallDisk(root)
  const said = await fill(root, disk, 300)
  const highest = Number(said.find((line) => line.startsWith('highest'))?.split(' ')[1])
  // Raised or not, it is never lost and never below what the lines say.
  expect([5, 6]).toContain(highest)
})

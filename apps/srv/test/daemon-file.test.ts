/** The file by which a daemon is found: believed only if it is ours, closed to others, and names a place on loopback. */
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  daemonFilePath,
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile
} from '../src/daemon/daemon-file.js'
import { DaemonLock } from '../src/daemon/daemon-lock.js'

const daemon = {
  url: 'http://127.0.0.1:47000',
  authKey: 'a-key',
  pid: 42,
  version: '1.0.0',
  startedAtMs: 1_700_000_000_000
}

function sharedRoot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentmux-srv-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('the daemon file', () => {
  test('is read as it was written, and closed to everybody else', () => {
    const path = daemonFilePath(sharedRoot(), 'Nightly 2')
    expect(path).toMatch(/agents\/srv\/nightly_2\.json$/)
    expect(readDaemonFile(path)).toEqual({ kind: 'missing' })
    writeDaemonFile(path, daemon)
    expect(readDaemonFile(path)).toEqual({ kind: 'found', daemon })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('where no folder can be made is a fault that names it, and ends', () => {
    const fault = { name: 'LeaseFault', message: expect.stringContaining('/proc/none/agents/srv') }
    const thrown = (act: () => void) => {
      try {
        act()
      } catch (error) {
        return error
      }
    }
    expect(thrown(() => writeDaemonFile(daemonFilePath('/proc/none', 'stable'), daemon))).toMatchObject(fault)
    expect(thrown(() => DaemonLock.take('/proc/none', 'stable'))).toMatchObject(fault)
  })

  test('is ignored if others may read or write it, or it is a link', () => {
    const path = daemonFilePath(sharedRoot(), 'stable')
    writeDaemonFile(path, daemon)
    for (const mode of [0o640, 0o604, 0o620, 0o602]) {
      chmodSync(path, mode)
      expect(readDaemonFile(path)).toMatchObject({ kind: 'ignored' })
    }
    chmodSync(path, 0o600)
    symlinkSync(path, `${path}.link`)
    expect(readDaemonFile(`${path}.link`)).toMatchObject({ kind: 'ignored' })
  })

  test('is ignored if it makes no sense, or leads elsewhere', () => {
    const path = daemonFilePath(sharedRoot(), 'stable')
    writeDaemonFile(path, daemon)
    const wire = { url: daemon.url, auth_key: 'a-key', pid: 42, version: '1', started_at: 1 }
    const bad = [
      '',
      'null',
      '[]',
      '{',
      JSON.stringify({ ...wire, url: 'http://example.com:80' }),
      JSON.stringify({ ...wire, url: 'https://127.0.0.1:1' }),
      JSON.stringify({ ...wire, url: 'http://127.0.0.1:1@example.com' }),
      JSON.stringify({ ...wire, auth_key: 'two\r\nlines' }),
      JSON.stringify({ ...wire, auth_key: '' }),
      JSON.stringify({ ...wire, pid: 'x' }),
      ' '.repeat(20_000)
    ]
    for (const text of bad) {
      writeFileSync(path, text)
      expect(readDaemonFile(path)).toMatchObject({ kind: 'ignored' })
    }
    writeFileSync(path, JSON.stringify({ ...wire, more: 'of a later build' }))
    expect(readDaemonFile(path)).toMatchObject({ kind: 'found' })
  })

  test('is removed only by the daemon that wrote it', () => {
    const path = daemonFilePath(sharedRoot(), 'stable')
    writeDaemonFile(path, daemon)
    removeDaemonFile(path, { ...daemon, authKey: 'of another' })
    expect(readDaemonFile(path).kind).toBe('found')
    removeDaemonFile(path, daemon)
    expect(readDaemonFile(path).kind).toBe('missing')
    removeDaemonFile(path, daemon)
  })
})

describe('the lock of a daemon', () => {
  test('is had by one per channel, and by the next once it is given up', () => {
    const shared = sharedRoot()
    const lock = DaemonLock.take(shared, 'stable')
    expect(lock).toBeDefined()
    expect(DaemonLock.take(shared, 'stable')).toBeUndefined()
    const beside = DaemonLock.take(shared, 'nightly')
    expect(beside).toBeDefined()
    lock?.release()
    lock?.release()
    const next = DaemonLock.take(shared, 'stable')
    expect(next).toBeDefined()
    next?.release()
    beside?.release()
  })

  test('counts on the file that has the name now, whoever has locked one that had it', () => {
    const shared = sharedRoot()
    const old = DaemonLock.take(shared, 'stable')
    rmSync(join(shared, 'agents', 'srv', 'stable.lock'))
    const next = DaemonLock.take(shared, 'stable')
    expect(next).toBeDefined()
    expect(DaemonLock.take(shared, 'stable')).toBeUndefined()
    old?.release()
    next?.release()
  })
})

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onlyWeCanWrite } from '../src/trusted-lease.js'

let top: string
let folder: string
let file: string

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'trusted-lease-'))
  folder = join(top, 'shared', 'registry', 'leases')
  file = join(folder, 'agent.lease.json')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(file, '', { mode: 0o644 })
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

describe('the word of a lease counts', () => {
  it('where only we can write the file, its folder and what is above', () => {
    expect(onlyWeCanWrite(folder, file)).toBe(true)
  })

  it('below a sticky folder: others cannot touch our entries in it', () => {
    chmodSync(top, 0o1777)
    expect(onlyWeCanWrite(folder, file)).toBe(true)
  })

  it('when the lease was released meanwhile', () => {
    rmSync(file)
    expect(onlyWeCanWrite(folder, file)).toBe(true)
  })

  it('through a link of ours', () => {
    symlinkSync(join(top, 'shared'), join(top, 'link'))
    const linked = join(top, 'link', 'registry', 'leases')
    expect(onlyWeCanWrite(linked, join(linked, 'agent.lease.json'))).toBe(true)
  })
})

describe('the word of a lease does not count', () => {
  it.each([
    ['the file', () => chmodSync(file, 0o664)],
    ['its folder, sticky or not', () => chmodSync(folder, 0o1777)],
    ['the registry root', () => chmodSync(join(top, 'shared', 'registry'), 0o720)],
    ['what is above', () => chmodSync(top, 0o777)]
  ])('where others can write %s', (_, open) => {
    open()
    expect(onlyWeCanWrite(folder, file)).toBe(false)
  })

  it('through a link in a folder that others can write: they can turn it elsewhere', () => {
    const open = join(top, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    symlinkSync(join(top, 'shared'), join(open, 'link'))
    const linked = join(open, 'link', 'registry', 'leases')
    expect(onlyWeCanWrite(linked, join(linked, 'agent.lease.json'))).toBe(false)
  })

  it('where the file is a link', () => {
    rmSync(file)
    symlinkSync(join(top, 'elsewhere'), file)
    expect(onlyWeCanWrite(folder, file)).toBe(false)
  })

  it('where the folder is not there to be looked at', () => {
    expect(onlyWeCanWrite(join(top, 'gone', 'leases'), file)).toBe(false)
  })
})

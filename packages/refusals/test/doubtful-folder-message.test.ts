import { describe, expect, it } from 'vitest'
import { doubtfulFolderWarning, isAdmissionRefusal } from '../src/index.js'

describe('the warning of a folder that is not to be trusted', () => {
  it('names the folder, what it is on, what that means and the way out, and carries no marker', () => {
    const said = doubtfulFolderWarning('/home/ada/\u001b[31mshared', 'NFS')
    expect(said).toMatch(/^WARNING: the shared folder \/home\/ada\/.*shared is on NFS, /)
    expect(said).not.toContain('\u001b')
    expect(said).toContain('only once its lease has stood still for 15 s')
    expect(said).toContain('--shared-dir')
    expect(isAdmissionRefusal(said)).toBe(false)
  })
})

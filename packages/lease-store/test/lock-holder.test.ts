/** Naming who has a lock, from /proc/locks. */
import { describe, expect, it } from 'vitest'
import { describeLockHolder, flockOwner } from '../src/lock-holder.js'

const LOCKS = `1: FLOCK  ADVISORY  WRITE 812 fe:00:131 0 EOF
1: -> FLOCK  ADVISORY  WRITE 900 fe:00:131 0 EOF
2: POSIX  ADVISORY  WRITE 700 fe:00:132 0 EOF
3: FLOCK  ADVISORY  READ 701 fe:00:133 0 EOF
4: FLOCK  ADVISORY  WRITE 0 fe:00:134 0 EOF
5: FLOCK  ADVISORY  WRITE -1 00:2e:135 0 EOF
`

describe('the owner of a lock', () => {
  it('is who has it, not who waits, nor who has another kind', () => {
    expect(flockOwner(LOCKS, 131)).toBe(812)
    expect(flockOwner(LOCKS, 132)).toBeUndefined()
    expect(flockOwner(LOCKS, 133)).toBeUndefined()
    expect(flockOwner(LOCKS, 31)).toBeUndefined()
    expect(flockOwner('', 131)).toBeUndefined()
  })

  it('in another pid namespace is unknown', () => {
    expect(flockOwner(LOCKS, 134)).toBeUndefined()
    expect(flockOwner(LOCKS, 135)).toBeUndefined()
  })

  it('of a file that is gone is unknown', () => {
    expect(describeLockHolder('/nonexistent')).toBe('')
  })
})

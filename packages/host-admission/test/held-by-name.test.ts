import { type Refusal, unknownRefusal } from '@agentmux/refusals'
import { describe, expect, test } from 'vitest'
import { HeldByName } from '../src/held-by-name.js'

const refusal = unknownRefusal({ uid: 'u-1' }, 0, 0)

function lease(name?: string) {
  const fencedWith: Refusal[] = []
  return {
    agent: name === undefined ? { uid: 'u-1' } : { uid: 'u-1', name },
    fence: (why: Refusal) => fencedWith.push(why),
    fencedWith
  }
}

describe('fencing the agent of a name', () => {
  test('reaches the lease held under it, whatever its case and the space around it', () => {
    const index = new HeldByName()
    const ada = lease(' Ada ')
    const bob = lease('Bob')
    index.add(ada)
    index.add(bob)
    expect(index.fenceAgentNamed('aDA', refusal)).toBe(true)
    expect(ada.fencedWith).toEqual([refusal])
    expect(bob.fencedWith).toEqual([])
  })

  test('reaches nobody where no such agent is held', () => {
    const index = new HeldByName()
    index.add(lease())
    index.add(lease('  '))
    for (const name of ['Ada', '', ' ', 'u-1']) expect(index.fenceAgentNamed(name, refusal)).toBe(false)
  })

  test('reaches the newer of two leases of one name', () => {
    const index = new HeldByName()
    const [older, newer] = [lease('Ada'), lease('ada')]
    index.add(older)
    index.add(newer)
    index.fenceAgentNamed('Ada', refusal)
    expect(older.fencedWith).toEqual([])
    expect(newer.fencedWith).toEqual([refusal])
  })

  test('an older lease that goes does not take the entry of the newer one along', () => {
    const index = new HeldByName()
    const [older, newer] = [lease('Ada'), lease('Ada')]
    index.add(older)
    index.add(newer)
    index.remove(older)
    expect(index.fenceAgentNamed('Ada', refusal)).toBe(true)
    index.remove(newer)
    expect(index.fenceAgentNamed('Ada', refusal)).toBe(false)
    index.remove(newer)
  })
})

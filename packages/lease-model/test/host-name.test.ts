import { expect, test } from 'vitest'
import { hostLabel, leaseHostname } from '../src/index.js'

test.each([
  ['Mill', 'mill', 'mill'],
  ['  Build-07.Example.ORG \n', 'build-07.example.org', 'build-07.example.org'],
  ['', '', 'unknown'],
  [' \t ', '', 'unknown']
])('the host name %j stands as %j in a lease and reads %j', (osHostname, inLease, label) => {
  expect(leaseHostname(osHostname)).toBe(inLease)
  expect(hostLabel(osHostname)).toBe(label)
})

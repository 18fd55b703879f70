/** One folder shared between namespaces: containers on one machine. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createInstanceIdentity, LeaseStore, readHostIdentity } from '../src/index.js'
import { type Answer, Child } from './harness/child.js'
import { diskFolder } from './harness/folder.js'
import { request, UID } from './harness/parties.js'

const claim = { agent: { uid: UID }, blockId: 'child' }
const LONG = { ttlMs: 600_000 }

const isRoot = process.getuid?.() === 0
/** As root the namespaces are made directly; others need a user namespace around them. */
const unshare = isRoot ? ['unshare'] : ['unshare', '--user', '--map-root-user']
const PID_NAMESPACE = [...unshare, '-p', '-f', '--mount-proc', '--kill-child']
/** A pid namespace that goes on seeing its parent's /proc. */
const PID_NAMESPACE_WITHOUT_PROC = [...unshare, '-p', '-f', '--kill-child']
const TIME_NAMESPACE = [...unshare, '-T', '--boottime', '86400', '-f', '--kill-child']

function works(through: readonly string[]): boolean {
  return spawnSync(through[0] as string, [...through.slice(1), 'true']).status === 0
}

async function holderIn(through: readonly string[], store: object = LONG) {
  const root = diskFolder()
  const child = new Child(root, { through, store })
  const { pid, host }: Answer = await child.do('hello')
  expect(await child.do('claim', claim)).toMatchObject({ kind: 'granted', lease: { epoch: 1 } })
  return { root, child, pid, host, store: LeaseStore.open(root) }
}

if ([PID_NAMESPACE, TIME_NAMESPACE].every(works)) inNamespaces()
else withStandIns()

function inNamespaces(): void {
  describe('a holder in another pid namespace', () => {
    it.each([
      ['with a /proc of its own', PID_NAMESPACE],
      ['without', PID_NAMESPACE_WITHOUT_PROC]
    ])('is not judged by a pid that means somebody else here (%s)', async (_, through) => {
      const { host, pid, store } = await holderIn(through)
      expect(host.pidNs).not.toBe(readHostIdentity().pidNs)
      expect(pid).toBe(1)
      expect(await store.claim(request())).toMatchObject({
        kind: 'refused',
        holder: { blockId: 'child', pid: 1 }
      })
      expect(store.list()).toMatchObject([{ state: 'held' }])
    })

    it('is not judged by a pid that does not exist here', async () => {
      const root = diskFolder()
      // The shell has pid 1, and a process after many others holds the lease.
      const through = [
        ...PID_NAMESPACE,
        'sh',
        '-c',
        'i=0; while [ $i -lt 5 ]; do true & i=$((i+1)); done; "$@"',
        'sh'
      ]
      const child = new Child(root, { through, store: LONG })
      await child.do('claim', claim)
      expect(await LeaseStore.open(root).claim(request())).toMatchObject({ kind: 'refused' })
    })

    it('expires by the boot clock that both share', async () => {
      const { store } = await holderIn(PID_NAMESPACE, { ttlMs: 500 })
      await store.waitForRelease(UID)
      expect(await store.claim(request())).toMatchObject({ kind: 'granted', lease: { epoch: 2 } })
    })

    it('does not take us for dead either', async () => {
      const root = diskFolder()
      const store = LeaseStore.open(root, LONG)
      expect(await store.claim(request())).toMatchObject({ kind: 'granted' })
      for (const through of [PID_NAMESPACE, PID_NAMESPACE_WITHOUT_PROC]) {
        const child = new Child(root, { through })
        expect(await child.do('claim', claim)).toMatchObject({
          kind: 'refused',
          holder: { pid: process.pid }
        })
        expect(await child.do('look', { uid: UID })).toMatchObject({ kind: 'held' })
      }
    })
  })

  describe('a container in which one holder is killed', () => {
    it.each([
      ['with a /proc of its own', PID_NAMESPACE],
      ['without, where a pid leads to a process outside', PID_NAMESPACE_WITHOUT_PROC]
    ])('lets the next one in it claim at once, and nobody before (%s)', (_, through) => {
      const root = diskFolder()
      const module = JSON.stringify(new URL('../dist/index.js', import.meta.url).href)
      const script = `
        import { LeaseStore } from ${module}
        const [root, blockId] = process.argv.slice(1)
        const store = LeaseStore.open(root, { ttlMs: 600000 })
        const { kind, lease, previous } = await store.claim({ agent: { uid: 'k' }, blockId })
        console.log(JSON.stringify([kind, lease?.epoch, previous?.why]))
        if (blockId === 'first') setInterval(() => {}, 1000)`
      const steps = `
        claim() { "$node" --input-type=module -e "$script" "$root" "$1"; }
        node=$0; script=$1; root=$2
        "$node" --input-type=module -e "$script" "$root" first & first=$!
        while ! [ -e "$root/leases/k.lease.json" ]; do sleep 0.05; done
        claim second; kill -9 $first; wait; claim third`
      const command = [...through, 'sh', '-c', steps, process.execPath, script, root]
      const { stdout } = spawnSync(command[0] as string, command.slice(1), { encoding: 'utf8' })
      expect(stdout).toBe('["granted",1,null]\n["refused",null,null]\n["granted",2,"dead"]\n')
    })
  })

  describe('a process of another user that only a signal can find', () => {
    it('is alive', () => {
      const script = `
        import { processState } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
        if (${isRoot}) process.setuid(65534)
        console.log(JSON.stringify([processState(1), processState(4194304)]))`
      const shell = ['sh', '-c', '"$0" --input-type=module -e "$1"; exit', process.execPath, script]
      const [command, ...args] = [...PID_NAMESPACE_WITHOUT_PROC, ...shell]
      const { stdout } = spawnSync(command as string, args, { encoding: 'utf8' })
      expect(stdout).toBe('[{"kind":"alive","startTicks":0},{"kind":"gone"}]\n')
    })
  })

  describe('a holder in another time namespace', () => {
    it('is neither expired by its boot clock nor dead by the start it shows', async () => {
      const { host, store, root } = await holderIn(TIME_NAMESPACE)
      expect(host.timeNs).not.toBe(readHostIdentity().timeNs)
      expect(host.pidNs).toBe(readHostIdentity().pidNs)
      expect(await store.claim(request())).toMatchObject({ kind: 'refused' })
      // The other way about: ours, seen from there.
      const ours = await store.claim({ agent: { uid: 'ours' }, blockId: 'b' })
      expect(ours.kind).toBe('granted')
      const child = new Child(root, { through: TIME_NAMESPACE })
      expect(await child.do('claim', { agent: { uid: 'ours' }, blockId: 'c' })).toMatchObject({
        kind: 'refused'
      })
    })

    it('is dead at once when it is killed: pids are shared', async () => {
      const root = diskFolder()
      const child = new Child(root, { through: TIME_NAMESPACE, store: LONG })
      const { pid } = await child.do('hello')
      await child.do('claim', claim)
      process.kill(pid, 'SIGKILL')
      await child.ended()
      expect(await LeaseStore.open(root).claim(request())).toMatchObject({
        kind: 'granted',
        previous: { why: 'dead' }
      })
    })
  })
}

/** A host name of its own, in the namespaces that everybody else has. */
function named(name: string): string[] {
  return [...unshare, '-u', 'sh', '-c', 'hostname "$0" && exec "$@"', name]
}

if (works(named('renamed'))) onRenamedHost()

function onRenamedHost(): void {
  describe('a host that was renamed', () => {
    it('is still this host: who lives there stays, who is dead goes at once', async () => {
      const { store, child, host } = await holderIn(named('renamed-meanwhile'))
      expect(host.hostname).toBe('renamed-meanwhile')
      expect(await store.claim(request())).toMatchObject({
        kind: 'refused',
        holder: { place: 'this-host', hostname: 'renamed-meanwhile' }
      })
      await child.signal('SIGKILL')
      expect(await store.claim(request())).toMatchObject({ kind: 'granted', previous: { why: 'dead' } })
    })
  })

  describe('containers with a name, a pid 1 and mounts of their own', () => {
    it.each(['one name', 'two names'])(
      'keep each other out, and follow each other after a TTL (%s)',
      async (names) => {
        const container = (name: string) => [
          ...unshare,
          '-p',
          '-m',
          '-u',
          '-f',
          '--mount-proc',
          '--kill-child',
          'sh',
          '-c',
          'hostname "$0" && exec "$@"',
          name
        ]
        const root = diskFolder()
        const holder = new Child(root, { through: container('box'), store: { ttlMs: 2_500 } })
        const newcomer = new Child(root, { through: container(names === 'one name' ? 'box' : 'cask') })
        expect(await newcomer.do('hello')).toMatchObject({ pid: 1 })
        expect(await holder.do('claim', claim)).toMatchObject({ kind: 'granted' })
        expect(await holder.do('renewForEver')).toEqual({ kind: 'renewing' })
        expect(await newcomer.do('claim', { ...claim, blockId: 'n' })).toMatchObject({
          kind: 'refused',
          holder: { pid: 1, place: 'this-host' }
        })
        await holder.end()
        await newcomer.do('wait', { uid: UID })
        expect(await newcomer.do('claim', { ...claim, blockId: 'n' })).toMatchObject({
          kind: 'granted',
          lease: { epoch: 2 },
          previous: { why: 'expired' }
        })
      }
    )
  })
}

/** Real processes that only say that they live in another namespace, where none can be made. */
function withStandIns(): void {
  const here = readHostIdentity()
  const me = createInstanceIdentity({ channel: 'stable', version: '1' })

  it.each([
    ['pid namespace', { ...here, pidNs: here.pidNs + 1, initialPidNs: false }, { ...me, pid: 4_194_304 }],
    ['time namespace', { ...here, timeNs: here.timeNs + 1 }, { ...me, pidStartTicks: 1 }]
  ])(
    'a holder that says it is in another %s is not judged by what means something else here',
    async (_, host, instance) => {
      const root = diskFolder()
      const child = new Child(root, { store: { ...LONG, host, instance } })
      await child.do('claim', claim)
      expect(await LeaseStore.open(root).claim(request())).toMatchObject({ kind: 'refused' })
    }
  )
}

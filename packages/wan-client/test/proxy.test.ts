/** The proxy of the environment is used for a relay elsewhere, and never for one on this computer. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WanClient } from '../src/index.js'
import { IDENTITY, scene, TOKEN } from './scene.js'
import { json } from './scripted-relay.js'

/** A proxy that sends everything to one port of this computer, and keeps whom it was asked for. */
async function proxyTo(port: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(502)
    response.end()
  })
  const open = new Set<{ destroy(): void }>()
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const each of [upstream, socket]) {
      open.add(each)
      each.on('error', () => {})
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const each of open) each.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

it('goes through HTTP_PROXY, not for what NO_PROXY names, and never for loopback', async () => {
  const { relay, client } = await scene((_, response) => json(response, 200, { ok: true, epoch: 1 }))
  const port = Number(new URL(relay.url).port)
  const proxy = await proxyTo(port)
  const through = async (url: string, env: Record<string, string>) => {
    const made = new WanClient(
      { url, identity: IDENTITY, token: () => TOKEN, allowInsecureUrl: true },
      { env }
    )
    onTestFinished(() => made.close())
    const answer = await made.leases.ensure('agent3')
    return answer.kind === 'unknown' ? answer.why : answer.kind
  }
  expect(await through(`http://relay.invalid:${port}`, { HTTP_PROXY: proxy.url })).toBe('held')
  expect(proxy.asked).toEqual([`relay.invalid:${port}`])
  expect(
    await through(`http://relay.invalid:${port}`, { HTTP_PROXY: proxy.url, NO_PROXY: 'relay.invalid' })
  ).toBe('unreachable')
  expect(
    await through(relay.url, { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' })
  ).toBe('held')
  expect(proxy.asked).toHaveLength(1)
  await client.close()
})

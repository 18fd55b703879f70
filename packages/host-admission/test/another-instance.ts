/** Instances beside the one under test: real processes, real servers, real files, as an older or a newer build leaves them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import { LeaseStore, type LeaseStoreOptions, processState, readHostIdentity } from '@agentmux/lease-store'
import { onTestFinished } from 'vitest'

/** This host, as it is where every pid can be seen. */
export const host: HostIdentity = { ...readHostIdentity(), initialPidNs: true }

/** A shared root that is gone after the test. */
export function sharedRoot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-admission-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A process that does nothing until the test ends. */
export function anotherProcess(): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  if (child.pid === undefined) throw new Error('it did not start')
  return child as ChildProcess & { readonly pid: number }
}

/** The pid of a process that has come and gone. */
export async function deadPid(): Promise<number> {
  const child = anotherProcess()
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  return child.pid
}

/** The leases of an instance with this pid and channel. */
export function storeOf(
  root: string,
  { pid, channel = 'stable', version = '0.44.1' }: { pid: number; channel?: string; version?: string },
  options: LeaseStoreOptions = {}
): LeaseStore {
  const state = processState(pid)
  const instance: InstanceIdentity = {
    ownerBootId: randomUUID(),
    channel,
    version,
    pid,
    pidStartTicks: state.kind === 'alive' ? state.startTicks : 0
  }
  return LeaseStore.open(join(root, 'agents', 'registry'), { host, instance, ...options })
}

/** An HTTP server on loopback; its address. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that gives one answer to everything, and the requests that it has seen. */
export async function serveAnswer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {}
): Promise<{ url: string; seen: { method: string; url: string; key: string; body: string }[] }> {
  const seen: { method: string; url: string; key: string; body: string }[] = []
  const url = await serve(async (request, response) => {
    const { method = '', url: path = '' } = request
    seen.push({
      method,
      url: path,
      key: String(request.headers['x-authkey'] ?? ''),
      body: await bodyOf(request)
    })
    send(response, status, typeof body === 'string' ? body : JSON.stringify(body), headers)
  })
  return { url, seen }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

export function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {}
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

/** An entry of the reactive registry as its file has it. */
export function entry(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    agent_id: 'ada',
    local_url: 'http://127.0.0.1:1',
    block_id: 'block-1',
    pid: process.pid,
    updated_at: Date.now(),
    auth_key: 'their-key',
    channel: 'nightly',
    registration_nonce: 7,
    ...fields
  }
}

/** Puts something into the reactive registry; the path of its file. */
export function publish(root: string, name: string, content: Record<string, unknown> | string): string {
  const path = join(root, 'agents', 'reactive', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}

/** What stands in the answers of a daemon. */
import type { RecordLine } from '@agentmux/host-admission'
import type { Answer, HttpClient } from './http-client.js'

interface Served {
  readonly client: HttpClient
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which each test looks at in its own way
export function bodyOf({ body }: Answer): any {
  return JSON.parse(body)
}

export async function recordOf({ client }: Served, block: string, query = ''): Promise<RecordLine[]> {
  const { body } = await client.get(`/api/v1/agents/${block}/record${query}`)
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

export async function metric({ client }: Served, series: string): Promise<number> {
  const { body } = await client.get('/metrics')
  const line = body.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1))
}

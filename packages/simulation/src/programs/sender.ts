/**
 * Somebody who leaves messages for agents at the relay, through the real client. Asked with the same key until it is known
 * that the relay has the message: then it is there once.
 */
import { randomUUID } from 'node:crypto'
import { createSystemClock } from '@agentmux/lease-model'
import { WanClient } from '@agentmux/wan-client'
import type { System } from './system.js'

export function main(system: System): void {
  const { config } = system
  const { relay, channel, version } = config
  const clock = createSystemClock()
  const client = new WanClient(
    {
      url: relay?.url ?? '',
      identity: { host: 'people', channel, version, install: relay?.install ?? '' },
      token: () => relay?.token
    },
    { clock, random: () => system.random(), env: {} }
  )

  async function inject(message: { uid: string; text: string; source: string | undefined }): Promise<void> {
    const { uid, text, source } = message
    const requestKey = randomUUID()
    const injection = {
      targetAgent: uid,
      message: text,
      ...(source === undefined ? {} : { sourceAgent: source })
    }
    for (;;) {
      const answer = await client.messages.inject(injection, { requestKey })
      if (answer.kind === 'injected') return system.tell({ kind: 'message-sent', id: answer.id, text })
      await clock.sleep(500 + system.random() * 4_000)
    }
  }

  Object.assign(system.orders, {
    inject: (message: { uid: string; text: string; source: string | undefined }) => {
      inject(message).catch((fault: unknown) =>
        system.tell({ kind: 'note', text: `a message was not sent: ${String(fault)}` })
      )
    }
  })
}

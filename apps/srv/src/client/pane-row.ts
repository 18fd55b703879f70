/** A pane as `agents` shows it, read from what the daemon says: what is missing stays empty. */
import { heldForText, plainText } from '@agentmux/refusals'

export const PANE_COLUMNS = ['BLOCK', 'AGENT', 'STATE', 'SINCE', 'EPOCH', 'PID', 'COMMAND'] as const

export function paneRow(pane: unknown, nowMs: number): string[] {
  const fields: Readonly<Record<string, unknown>> = { ...(pane as object) }
  const { block_id, uid, agent, state, opened_at_ms, epoch, pid, command } = fields
  const name = plainText(agent, 32)
  const words = Array.isArray(command) ? command.map(String).join(' ') : ''
  return [
    plainText(block_id, 64),
    name === '' ? plainText(uid, 64) : `${name} (${plainText(uid, 64)})`,
    plainText(state, 16),
    typeof opened_at_ms === 'number' ? (heldForText(opened_at_ms, nowMs) ?? '') : '',
    typeof epoch === 'number' ? String(epoch) : '',
    typeof pid === 'number' ? String(pid) : '',
    plainText(words, 60)
  ]
}

/** Why another drives its agent now; undefined of a pane that has its own. */
export function supersededBy(pane: unknown): string | undefined {
  const { state, refusal } = { ...(pane as { readonly state?: unknown; readonly refusal?: unknown }) }
  if (state !== 'superseded') return undefined
  const { message } = { ...(refusal as { readonly message?: unknown }) }
  return plainText(message, 500)
}

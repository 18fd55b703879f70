/** The environment of the command: ours, without what belongs to whoever started us, and with the marks of the claim. */

/** An outer pane's address and names. The claim's own marks replace those it has; the rest would point elsewhere. */
const OF_ANOTHER_PANE = new Set([
  'AGENTMUX_LOCAL_URL',
  'AGENTMUX_BLOCKID',
  'AGENTMUX_AGENT_ID',
  'AGENTMUX_AGENT_UID'
])
/** A key of this or an outer instance opens more than a child may (R16). */
const SECRET = /^AGENTMUX_.*(KEY|SECRET|TOKEN|PASSWORD)/i

type Environment = Readonly<Record<string, string | undefined>>

export function childEnvironment(ours: Environment, marks: Environment): Record<string, string | undefined> {
  const kept = Object.entries(ours).filter(([name]) => !OF_ANOTHER_PANE.has(name) && !SECRET.test(name))
  return { ...Object.fromEntries(kept), ...marks }
}

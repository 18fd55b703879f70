/** Which agent is meant: the identity a lease is keyed on, and the name people know it by. */
export interface AgentRef {
  /** The agent's UID. It alone decides identity (R1); compared byte for byte. */
  readonly uid: string
  /** The display name. Never compared, never a key; may be absent. */
  readonly name?: string
}

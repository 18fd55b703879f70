/** What a person who lets this computer speak to others on the network has to know about whom it believes. No markers. */

const SECRET_BYTES = 16

/** For `--lan` and `doctor` where no LAN secret is set: what that means, and the way out. */
export function lanTrustWarning(): string {
  return `No LAN secret is set: a stranger on this network could pretend to drive your agents, and so keep them from starting here and stop those that run; it could also learn the UIDs that are asked about. Set AGENTMUX_LAN_SECRET to the same text, ${SECRET_BYTES} bytes or more, on every computer; builds too old to sign are then not seen.`
}

/** For `doctor` and the log with a secret: how many peers do not count. Undefined if there are none. */
export function lanUnsignedMessage(unsigned: number): string | undefined {
  if (!(unsigned >= 1)) return undefined
  const [who, they] = unsigned === 1 ? ['1 peer', 'it is'] : [`${Math.floor(unsigned)} peers`, 'they are']
  return `${who} on the network did not sign with this LAN secret, so ${they} not seen: an older build, a computer without the secret, or a stranger.`
}

/** For a secret that cannot be used. Never says what it is (R16). */
export function lanSecretFaultMessage(): string {
  return `The LAN secret is too short: it must have at least ${SECRET_BYTES} bytes. \`openssl rand -hex 32\` makes a good one.`
}

/** A name as it may stand in a header: what is not visible ASCII, and `%`, percent-encoded as UTF-8. */
export function headerText(text: string): string {
  return text.replace(/[^!-$&-~]+/gu, (part) => encodeURIComponent(part))
}

/** Whether a token may stand in a header as it is. Anything else would be named in an error of the HTTP library (R16). */
export function isSendableToken(token: string): boolean {
  return token.length <= 16_384 && /^[!-~]+$/.test(token)
}

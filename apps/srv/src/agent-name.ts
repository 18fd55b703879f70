/** What an agent may be called, on the command line and over HTTP. A name is shown to people and stands in files of others. */

/** What other instances accept of a name of this kind. */
const MAX_NAME_BYTES = 128

/** What is wrong with a name, to stand behind the word for it; undefined if nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty'
  if (!isPrintable(name)) return 'must not hold control or invisible characters'
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `must be at most ${MAX_NAME_BYTES} bytes long`
  return undefined
}

/** Whether a terminal shows all of it, and does nothing else on its account. */
export function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
}

/**
 * Makes a string from elsewhere (another host, a lease file, an error) fit for one line on a terminal. Keeps true that
 * what comes out has no control character, no terminal sequence, nothing invisible, and at most the given length.
 */

/**
 * `text` without terminal escape sequences, control and invisible characters and lone surrogates; line breaks and tabs
 * become spaces; trimmed; cut to `maxLength` characters (code points), the last of which is then `…`. Applying it
 * twice changes nothing more. Anything but a string gives the empty string.
 */
export function plainText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return ''
  // A megabyte of noise costs no more than its beginning; the factor leaves room for what is stripped.
  const visible = withoutEscapes(text.slice(0, maxLength * 8))
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim()
  return cut(visible, maxLength)
}

function withoutEscapes(text: string): string {
  // Strings for the terminal, such as titles and links, to their end. No part of one can begin another, so that a
  // crowd of unfinished ones is still read in one pass.
  const strings =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
    /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)/gu
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours, cursor moves and the like
  const controls = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/gu
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the short sequences, such as a reset
  const short = /\u001b[ -/]*[0-Z\\^-~]/gu
  return text.replace(strings, '').replace(controls, '').replace(short, '')
}

function cut(text: string, maxLength: number): string {
  const characters = Array.from(text)
  if (characters.length <= maxLength) return text
  return `${characters.slice(0, Math.max(0, maxLength - 1)).join('')}…`
}

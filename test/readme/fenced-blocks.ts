/** The code blocks of a Markdown text that are examples: they run, and what they print is as stated. */

export interface Example {
  readonly language: 'ts' | 'sh'
  readonly code: string
  /** The line of its opening fence, from 1. */
  readonly line: number
  /** The text block that directly follows; undefined if there is none. */
  readonly expectedOutput: string | undefined
}

interface Block {
  readonly info: string
  readonly code: string
  readonly firstLine: number
  readonly lastLine: number
}

function fencedBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const opening = /^(`{3,})(.*)$/.exec(lines[at] ?? '')
    if (opening === null) continue
    let end = at + 1
    while (end < lines.length && lines[end]?.trimEnd() !== opening[1]) end++
    const code = lines.slice(at + 1, end).join('\n')
    blocks.push({ info: opening[2]?.trim() ?? '', code, firstLine: at, lastLine: end })
    at = end
  }
  return blocks
}

/** Nothing but empty lines, or one line that leads over: `prints:`. */
function followsDirectly(between: readonly string[]): boolean {
  const said = between.filter((line) => line.trim() !== '')
  return said.length === 0 || (said.length === 1 && /:\s*$/.test(said[0] ?? ''))
}

/**
 * Every block marked `ts`, and every block marked `sh example`: other shell blocks show commands that are not for a test
 * to run.
 */
export function examplesOf(markdown: string): Example[] {
  const lines = markdown.split(/\r?\n/)
  const blocks = fencedBlocks(lines)
  return blocks.flatMap((block, index) => {
    const language = block.info === 'ts' ? 'ts' : block.info === 'sh example' ? 'sh' : undefined
    if (language === undefined) return []
    const next = blocks[index + 1]
    const isOutput = next?.info === 'text' && followsDirectly(lines.slice(block.lastLine + 1, next.firstLine))
    const expectedOutput = isOutput ? next.code : undefined
    return [{ language, code: block.code, line: block.firstLine + 1, expectedOutput }]
  })
}

/** Whether the output is the expected one, in which `…` stands for anything within a line. */
export function matchesOutput(output: string, expected: string): boolean {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${expected.trimEnd().split('…').map(literal).join('.*')}$`).test(output.trimEnd())
}

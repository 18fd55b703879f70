import { expect, test } from 'vitest'
import { examplesOf, matchesOutput } from './fenced-blocks.js'

const FENCE = '```'

test('blocks marked ts and sh example are examples; others only show something', () => {
  const markdown = `# Title
${FENCE}ts
first()
${FENCE}
${FENCE}sh
npm start
${FENCE}
${FENCE}json
{}
${FENCE}
${FENCE}sh example
agentmux-srv --version
${FENCE}
`
  expect(examplesOf(markdown)).toEqual([
    { language: 'ts', code: 'first()', line: 2, expectedOutput: undefined },
    { language: 'sh', code: 'agentmux-srv --version', line: 11, expectedOutput: undefined }
  ])
})

test.each([
  ['directly', '', 'out'],
  ['after an empty line', '\n', 'out'],
  ['after a line that leads over', '\nprints:\n\n', 'out'],
  ['after a paragraph of its own', '\nSomething else.\n\n', undefined],
  ['in another section', '\n## Next:\n\nText.\n', undefined]
])(
  'a text block is the expected output of the example before it when it comes %s',
  (_, between, expected) => {
    const markdown = `${FENCE}ts\ncode\n${FENCE}\n${between}${FENCE}text\nout\n${FENCE}\n`
    expect(examplesOf(markdown)[0]?.expectedOutput).toBe(expected)
  }
)

test.each([
  ['a\nb\n', 'a\nb', true],
  ['a\nc', 'a\nb', false],
  ['pid 4242, ok', 'pid …, ok', true],
  ['pid 4242\nok', 'pid …ok', false],
  ['1 + 1 (two)', '1 + 1 (two)', true],
  ['more\na', 'a', false]
])('output %j matches %j: %j', (output, expected, answer) => {
  expect(matchesOutput(output, expected)).toBe(answer)
})

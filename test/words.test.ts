// Tests tools/words.ts, which counts the habits of docs/words.md in comments, test titles and pages. Their number must
// not increase.
import { expect, test } from 'bun:test'
import { grown, habitsIn } from '../tools/words.ts'

const planted = [
  [
    'server/a.ts',
    [
      '/** What it says stands below. */',
      'const anew = 1',
      '// Read anew. Who left is told.',
      'work() // but for one',
    ].join('\n'),
  ],
  ['docs/a.md', 'A body of which a part is dear, as far as one that is none goes meanwhile.'],
  ['test/a.test.ts', "test('is read anew', () => {})"],
] as const

test('habits are found in comments, titles and pages, but not in code', () => {
  const counts = Object.fromEntries([...habitsIn(planted)].map(([habit, lines]) => [habit, lines.length]))
  expect(counts).toEqual({
    'stands for is': 1,
    'who without a noun': 1,
    anew: 2,
    meanwhile: 1,
    'as far as': 1,
    'of which': 1,
    'dear for expensive': 1,
    'but for': 1,
    'that is none': 1,
  })
})

test('more lines with a habit than before are an error, and fewer are not', () => {
  const found = habitsIn(planted)
  expect(grown(found, { anew: 1 })).toContainEqual(expect.stringContaining('"anew" is in 2 lines, 1 are known'))
  const all = Object.fromEntries([...found].map(([habit, lines]) => [habit, lines.length + 1]))
  expect(grown(found, all)).toEqual([])
})

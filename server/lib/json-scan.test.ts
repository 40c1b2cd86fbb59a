import { describe, expect, test } from 'bun:test'
import { countPlainMembers } from './json-edit.ts'
import { JsonScan, type JsonShape } from './json-scan.ts'

const encoder = new TextEncoder()

function scanned(text: string, step = text.length * 3 + 1, wanted?: string): JsonScan {
  const scan = new JsonScan(encoder.encode(text), wanted === undefined ? undefined : encoder.encode(`"${wanted}"`))
  while (!scan.isDone) scan.step(step)
  return scan
}

/** The counts that the scan should report, computed from the parsed value. */
function counted(value: unknown, depth = 1): Omit<JsonShape, 'names' | 'plainMembers'> {
  const counts = { values: 0, containers: 0, members: 0, depth: 0 }
  if (typeof value !== 'object' || value === null) return counts
  const inner = Object.values(value)
  counts.values = 1 + Math.max(inner.length, 1)
  counts.containers = 1
  counts.members = Array.isArray(value) ? 0 : inner.length
  counts.depth = depth
  for (const each of inner) {
    const below = counted(each, depth + 1)
    counts.values += below.values
    counts.containers += below.containers
    counts.members += below.members
    counts.depth = Math.max(counts.depth, below.depth)
  }
  return counts
}

describe('the counts match the parsed value:', () => {
  const long = 'x'.repeat(100)
  test.each<[string, unknown]>([
    ['a flat object', { a: 1, b: 'x', c: null, d: true }],
    ['lists within lists', [[1, [2, [3]]], [], {}]],
    ['brackets, commas, colons and quotes in strings', { 'a{[,:"': ']}",:{[', b: ['\\', '\\"', '"\\\\'] }],
    [
      'long strings with escapes at every position',
      { a: `${long}\\`, b: `${long}"${long}`, c: `\\${'"\\'.repeat(700)}` },
    ],
    ['strings in other scripts', { 東京: '🚀'.repeat(40), é: `${'é'.repeat(20)}"` }],
    ['a chat', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: long }] }], stream: true }],
  ])('%s', (_, value) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      // undefined = one step for the whole text.
      for (const step of [undefined, 1, 7]) {
        const { values, containers, members, depth } = scanned(text, step)
        expect({ values, containers, members, depth }).toEqual(counted(value))
      }
      if (!Array.isArray(value))
        expect(scanned(text).plainMembers).toBe(countPlainMembers(value as object as Record<string, unknown>))
    }
  })
})

describe('different names are counted in a long text:', () => {
  const objects = (count: number, name: (index: number) => string) =>
    JSON.stringify(Array.from({ length: count }, (_, index) => ({ [name(index)]: 'some text of a member' })))

  test('repeated names count once', () => expect(scanned(objects(5_000, () => 'name')).names).toBe(1))

  test('every different name is counted, except for a few whose hashes share a bit', () => {
    const { names } = scanned(objects(5_000, (index) => `k${index}`))
    expect(names).toBeGreaterThan(4_700)
    expect(names).toBeLessThanOrEqual(5_000)
  })

  test('names that differ only far from their start are different', () => {
    expect(scanned(objects(1_000, (index) => `${'x'.repeat(300)}${index}`)).names).toBeGreaterThan(950)
  })
})

describe('the scan of a long text takes linear time:', () => {
  const many = 1_000_000
  const shapes: [string, string][] = [
    ['a long string before many colons', `{"${'a'.repeat(many)}"${':'.repeat(many)}`],
    ['many long names, each before many colons', `{"${'a'.repeat(1_000)}"${':'.repeat(1_000)}`.repeat(1_000)],
    ['many colons', ':'.repeat(many)],
    ['many quotes', '"'.repeat(many)],
    ['backslashes', `"${'\\'.repeat(many)}`],
    ['quotes after many backslashes', `"${`${'\\'.repeat(1_001)}"`.repeat(1_000)}`],
    [
      'a wanted name before many colons and spaces',
      `{${`"model"${':'.repeat(1_000)}${' '.repeat(1_000)}5,`.repeat(1_000)}`,
    ],
  ]
  test.each(shapes)('%s', (_, text) => {
    expect(scanned(text, 2 * 1024 * 1024, 'model').isDone).toBe(true)
  })
})

describe('a wanted member of the top-level object', () => {
  test.each<[text: string, value: string | undefined]>([
    ['{"a":1,"model":"m"}', '"m"'],
    ['{"a":{"model":"inner"},"model" : \n "m\\"x","b":"y"}', '"m\\"x"'],
    ['{"messages":[{"model":"inner"}],"b":2}', undefined],
    ['{"model":5,"b":"text"}', undefined],
    ['{"model":["x"]}', undefined],
    ['{"model":null,"model2":"x"}', undefined],
    ['{"x":"model","models":"y"}', undefined],
    ['{"model":"first","model":"second"}', '"first"'],
    ['{}', undefined],
  ])('%s', (text, value) => {
    for (const step of [undefined, 1]) expect(scanned(text, step, 'model').wantedString).toBe(value)
  })
})

describe('text that is not JSON is read to its end, whatever it contains:', () => {
  test.each(['', '"', '"\\', '{"a', ']]]]{', ':::,,,', '{"a":"\\u12', '\\\\\\"'])('%s', (text) => {
    for (const step of [undefined, 1]) expect(scanned(text, step).isDone).toBe(true)
  })
})

test('a step reads the given length and the rest of a string that begins within it, but no more', () => {
  const text = `["${'x'.repeat(1_000)}","${'y'.repeat(1_000)}"]`
  const scan = new JsonScan(encoder.encode(text))
  scan.step(2)
  expect([scan.values, scan.isDone]).toEqual([2, false])
  scan.step(2)
  expect([scan.values, scan.isDone]).toEqual([3, false])
  scan.step(1_000_000)
  expect(scan.isDone).toBe(true)
})

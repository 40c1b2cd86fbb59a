import { describe, expect, test } from 'bun:test'
import { seeded } from '../../test/fuzz/random.ts'
import { insertMembers, setMembers } from './json-edit.ts'
import { JsonFault, type JsonLimits, type ParsedJson, parseJson } from './parse-json.ts'
import { Turns } from './turns.ts'

const limits: JsonLimits = { values: 100_000, containers: 10_000, names: 5_000, depth: 60 }
const random = seeded(1212)
const turns = new Turns()

async function outcome(bytes: Uint8Array, outlines: boolean): Promise<{ parsed?: ParsedJson; fault?: string }> {
  try {
    return { parsed: await parseJson(bytes, { limits, turns, outlines }) }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return { fault: `${error.kind} ${error.message}` }
  }
}

const texts = [
  'plain words, ',
  'line\\nline ',
  'é言葉🚀',
  '\\"quoted\\" ',
  '\\u00e9\\ud83d\\ude80\\ud800',
  '{"content":"',
  '\\\\',
]
const longText = () => {
  const piece = Array.from({ length: 1 + random.int(4) }, () => random.pick(texts))
    .join('')
    .replaceAll('{"content":"', '{\\"content\\":\\"')
  return `"${piece.repeat(Math.ceil((1_000 + random.int(3_000)) / piece.length))}"`
}
const names = [
  '"content"',
  '"text"',
  '"role"',
  '"co\\u006etent"',
  '"x\\"content"',
  '"\\\\content"',
  '"long"',
  '"context"',
  '"te\\u0078t"',
  '"モデル"',
]
const spaces = ['', '', '', ' ', '\n  ', '\t', '\r\n']

/** A random JSON value with random spacing. Its member names are written with and without escapes. */
function value(depth: number): string {
  const space = () => random.pick(spaces)
  const kind = random.int(depth > 4 ? 4 : 8)
  if (kind < 3)
    return random.chance(0.7) ? longText() : random.pick(['1', '-0.5e400', '9007199254740993', 'null', 'true', '"x"'])
  if (kind === 3) return '""'
  const items = Array.from({ length: random.int(5) }, () => {
    const inner = `${space()}${value(depth + 1)}${space()}`
    return kind < 6 ? `${space()}${random.pick(names)}${space()}:${inner}` : inner
  })
  return kind < 6 ? `{${items.join(',')}${space()}}` : `[${items.join(',')}${space()}]`
}

const body = () =>
  `${random.pick(spaces)}{${Array.from({ length: 20 }, () => `"text":${longText()},"content":${longText()}`).join(',')},"more":${value(0)}}`

/** Changes one to three bytes of a text, and sometimes truncates it. */
function damaged(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes)
  for (let count = 1 + random.int(3); count > 0; count--) {
    const at = random.int(out.length)
    out[at] = random.pick([0x22, 0x5c, 0x0a, 0x00, 0x80, 0xff, 0xed, 0x7b, 0x7d, 0x2c, 0x3a, 0x75, 0x20])
  }
  return random.chance(0.2) ? out.subarray(0, random.int(out.length)) : out
}

describe('parseJson gives the same result with and without an outline:', () => {
  test('valid texts', async () => {
    let outlined = 0
    for (let round = 0; round < 120; round++) {
      const bytes = new TextEncoder().encode(body())
      const { parsed, fault } = await outcome(bytes, true)
      const plain = await outcome(bytes, false)
      expect(fault).toBe(plain.fault)
      expect(parsed?.shape).toMatchObject({
        values: plain.parsed?.shape.values,
        plainMembers: plain.parsed?.shape.plainMembers,
      })
      expect(Bun.deepEquals([parsed?.text, parsed?.value], [plain.parsed?.text, plain.parsed?.value])).toBe(true)
      const outline = parsed?.outline
      if (!outline) continue
      outlined++
      expect(Buffer.compare(outline.restored(outline.text), bytes)).toBe(0)
      // With every placeholder replaced by its string, the value must be the same as without an outline.
      const whole: unknown = JSON.parse(outline.text, (_, each: unknown) =>
        typeof each === 'string' ? outline.textOf(each) : each,
      )
      expect(Bun.deepEquals(whole, plain.parsed?.value)).toBe(true)
    }
    expect(outlined).toBeGreaterThan(90)
  })

  test('damaged texts', async () => {
    const faults = new Set<string>()
    for (let round = 0; round < 250; round++) {
      const bytes = damaged(new TextEncoder().encode(body()))
      const { parsed, fault } = await outcome(bytes, true)
      const plain = await outcome(bytes, false)
      if (fault !== plain.fault) expect({ bytes, fault }).toEqual({ bytes, fault: plain.fault })
      expect(Bun.deepEquals(parsed?.value, plain.parsed?.value)).toBe(true)
      faults.add(fault ?? 'none')
    }
    expect([...faults].toSorted()).toEqual(['encoding is not valid UTF-8', 'none', 'syntax is not valid JSON'])
  })

  test.each([
    ['a byte order mark', '\ufeff{"content":"', '"}'],
    ['an unfinished text', '{"content":"', ''],
    ['an unfinished text that ends in an escaped quote', '{"content":"', '\\"'],
    ['a control character', '{"content":"\u0001', '"}'],
    ['a half escape', '{"content":"', '\\u12"}'],
    ['a text outside of an object', '"content":"', '"'],
    ['two colons', '{"a":"content":"', '"}'],
    ['a text after the end', '{"content":"', '"}"content":"x"'],
    ['deep nesting', `${'['.repeat(70)}{"content":"`, `"}${']'.repeat(70)}`],
  ])('%s', async (_, before, after) => {
    // A text of the first length is read in one step, and a text of the second in several.
    for (const length of [80_000, 600_000]) {
      const bytes = new TextEncoder().encode(`${before}${'text '.repeat(length / 5)}${after}`)
      const plain = await outcome(bytes, false)
      const { parsed, fault } = await outcome(bytes, true)
      expect(fault).toBe(plain.fault)
      expect(parsed?.text).toBe(plain.parsed?.text as string)
    }
  })
})

test('an edited outline is restored to the same bytes as the edited text', async () => {
  for (let round = 0; round < 60; round++) {
    const bytes = new TextEncoder().encode(body().replace('{', `{"model":"m",${random.pick(spaces)}`))
    const { parsed } = await outcome(bytes, true)
    const outline = parsed?.outline
    if (!parsed || !outline) continue
    const edits = { model: 'ä"other\\', more: [{ content: 'x' }] }
    expect(Buffer.from(outline.restored(setMembers(outline.text, edits))).toString()).toBe(
      setMembers(parsed.text, edits),
    )
    const added = [['stream_options', { include_usage: true }]] as const
    expect(Buffer.from(outline.restored(insertMembers(outline.text, added))).toString()).toBe(
      insertMembers(parsed.text, added),
    )
  }
})

test('a placeholder that was put into another text, or changed, is refused', async () => {
  const { parsed } = await outcome(new TextEncoder().encode(`{"content":"${'text '.repeat(20_000)}"}`), true)
  const outline = parsed?.outline
  if (!outline) throw new Error('no outline')
  const { content } = outline.value as { content: string }
  expect(outline.sizeOf(content)).toEqual({ characters: 100_000, extraBytes: 0 })
  expect(() => outline.restored(JSON.stringify({ content: `Be brief. ${content}` }))).toThrow('changed in an outline')
  for (const more of ['0', ' ', '~', content]) {
    expect(outline.sizeOf(content + more)).toBeUndefined()
    expect(() => outline.textOf(content + more)).toThrow('changed in an outline')
    expect(() => outline.restored(JSON.stringify({ content: content + more }))).toThrow('changed in an outline')
  }
  expect(outline.textOf('anything else')).toBe('anything else')
})

test('a text has no outline if it is short or has no long strings in members named content or text', async () => {
  for (const text of [
    `{"content":"${'x'.repeat(60_000)}"}`,
    JSON.stringify({ list: Array.from({ length: 100 }, () => ({ content: 'x'.repeat(900) })) }),
    JSON.stringify({ other: 'x'.repeat(100_000), context: 'x'.repeat(100_000) }),
    `{"${'x'.repeat(100_000)}":1}`,
  ]) {
    const { parsed } = await outcome(new TextEncoder().encode(text), true)
    expect(parsed?.outline).toBeUndefined()
  }
})

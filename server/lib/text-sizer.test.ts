import { expect, test } from 'bun:test'
import { isUtf8 } from 'node:buffer'
import { seeded } from '../../test/fuzz/random.ts'
import { TextSizer } from './text-sizer.ts'

const random = seeded(33)
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The expected size, computed from the parsed string. Undefined if the string is not valid. */
function parsed(bytes: Uint8Array): { characters: number; extraBytes: number } | undefined {
  try {
    const text: unknown = JSON.parse(decoder.decode(bytes))
    if (typeof text !== 'string') return undefined
    return { characters: text.length, extraBytes: Buffer.byteLength(text) - text.length }
  } catch {
    return undefined
  }
}

/** Measures the string at each of the four offsets within a 32-bit word, with other bytes around it. */
function sizes(string: Uint8Array) {
  return [0, 1, 2, 3].map((before) => {
    const bytes = new Uint8Array(before + string.length + 5).fill(0x5c)
    bytes.set(string, before)
    return new TextSizer(bytes).sizeOf(before, before + string.length)
  })
}

function expectSame(string: Uint8Array): void {
  const expected = parsed(string)
  for (const size of sizes(string))
    if (!Bun.deepEquals(size, expected)) expect({ string, size }).toEqual({ string, size: expected })
}

const quoted = (...parts: (string | number[])[]) =>
  new Uint8Array(
    Buffer.concat([Buffer.from('"'), ...parts.map((part) => Buffer.from(part as string)), Buffer.from('"')]),
  )

test('a string with any byte, plain or after a backslash, has the size of the parsed string', () => {
  for (let byte = 0; byte < 256; byte++)
    for (const around of [0, 1, 3, 4, 15, 16, 17, 40]) {
      const letters = 'x'.repeat(around)
      const plain = quoted(letters, [byte], letters)
      if (isUtf8(plain) && byte !== 0x22) expectSame(plain)
      const escaped = quoted(letters, [0x5c, byte], letters)
      if (isUtf8(escaped)) expectSame(escaped)
    }
})

test('a string with two escapes, complete or truncated, has the size of the parsed string', () => {
  const codes = [
    '0000',
    '007F',
    '0080',
    '07ff',
    '0800',
    'd7FF',
    'd800',
    'DBff',
    'dc00',
    'DFFF',
    'e000',
    'ffff',
    '00g0',
    '+123',
    ' 123',
  ]
  for (const one of codes)
    for (const other of codes)
      for (const between of ['', 'x', '\\n', '\\\\', '😀'])
        for (let cut = 0; cut < 4; cut++) {
          const text = `${'é'.repeat(cut * 3)}\\u${one}${between}\\u${other}`
          expectSame(quoted(text.slice(0, text.length - cut)))
        }
})

test('a random string has the size of the parsed string, or is refused if the parser refuses it', () => {
  const pieces = [
    'letters and words ',
    'é',
    'ß',
    '言葉',
    '🚀',
    '\\n',
    '\\"',
    '\\\\',
    '\\/',
    '\\u00e9',
    '\\ud83d\\ude80',
    '\\ud83d',
    '\\ude80',
    '\u2028',
    '\x7f',
    '\\b\\f\\r\\t',
    '\n',
    '\\x',
    '\\u12',
    '\0',
    '\x1f',
  ]
  const harmless = pieces.length - 5
  let valid = 0
  for (let round = 0; round < 6_000; round++) {
    const isDamaged = random.chance(0.3)
    const parts = Array.from(
      { length: random.int(30) },
      () => pieces[random.int(isDamaged ? pieces.length : harmless)] ?? '',
    )
    const string = quoted(parts.join(''))
    if (parsed(string)) valid++
    expectSame(string)
  }
  expect(valid).toBeGreaterThan(3_000)
})

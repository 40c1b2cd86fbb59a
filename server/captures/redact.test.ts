import { describe, expect, test } from 'bun:test'
import { Turns } from '../lib/turns.ts'
import { redacted } from './redact.ts'

const without = (text: string, redactions: string[], keys: string[] = []) =>
  redacted(text, { redactions, keys }, new Turns())

describe('what redactions replace', () => {
  test.each([
    ['a word in any case', 'Acme makes ACME things', ['acme'], '[redacted] makes [redacted] things'],
    ['the rest of a word', '"order":"AC-1234",', ['AC-*'], '"order":"[redacted]",'],
    ['the beginning of a word', 'mail bob@corp.example now', ['*@corp.example'], 'mail [redacted] now'],
    ['the middle of a word', 'x-secret-7-end y', ['x-*-end'], '[redacted] y'],
    ['not across words', 'x-secret end', ['x-*-end'], 'x-secret end'],
    ['letters that JSON escapes', '"Zo\\u00eb"', ['Zoë'], '"[redacted]"'],
    ['but no escaped backslash', '"C:\\\\u00eb"', ['ë'], '"C:\\\\u00eb"'],
    ['email addresses', 'to a.b+c@mail.example.co.uk!', ['@email'], 'to [redacted]!'],
    ['card numbers', 'pay 4111 1111 1111 1111 now', ['@card'], 'pay [redacted] now'],
    ['not other long numbers', 'id 4111 1111 1111 1112', ['@card'], 'id 4111 1111 1111 1112'],
    ['phone numbers', 'call +49 (30) 123-4567 or 555-123-4567', ['@phone'], 'call [redacted] or [redacted]'],
    ['not times', '{"created":1700000000}', ['@phone', '@card', '@ip'], '{"created":1700000000}'],
    ['addresses', 'from 192.0.2.17 and 2001:db8:0:1::5', ['@ip'], 'from [redacted] and [redacted]'],
  ])('%s', async (_, text, redactions, expected) => {
    expect(await without(text, redactions)).toBe(expected)
  })

  test('redacting JSON results in valid JSON', async () => {
    const body = JSON.stringify({ a: 'Acme 1', b: [12, 13], c: { acme: 'x@y.example' } })
    expect(JSON.parse(await without(body, ['acme*', '@email', '@ip']))).toBeObject()
  })
})

test('redacted removes keys, and texts that look like keys, even without redactions', async () => {
  const key = 'abcdefgh-ijklmnop-qrstuvwx'
  const text = `${key} and sk-proj-0123456789abcdefghij and Bearer abcdefghijklmnopqrstuvwxyz`
  expect(await without(text, [], [key])).toBe('[key] and [key] and [key]')
})

test('redacted removes a key at the boundary between two parts of a long text', async () => {
  const key = 'abcdefgh-ijklmnop-qrstuvwx'
  for (let shift = 0; shift < 40; shift++) {
    const clean = await without(
      `${'word '.repeat(3270)}${'x'.repeat(shift)} "${key}" ${'word '.repeat(100)}`,
      [],
      [key],
    )
    expect(clean).not.toContain(key)
    expect(clean).toContain('"[key]"')
  }
})

test.each([
  ['one letter', 'a'.repeat(500_000), ['a*b*c*d*e', 'aa*aa*aa*ab']],
  ['a long word before an at sign', 'a'.repeat(500_000), ['@email', '*a@*']],
  ['digits', '1'.repeat(500_000), ['@card', '@phone', '@ip']],
  ['digits with spaces', '1 '.repeat(250_000), ['@card', '@phone', '1*2']],
  ['colons', 'a:'.repeat(250_000), ['@ip', 'a:*:b']],
  ['backslashes', '\\'.repeat(500_000), ['\\*u']],
  ['parts of a key', 'sk-'.repeat(160_000), ['s*k']],
])('redacted takes linear time for hostile text: %s', async (_, text, redactions) => {
  const timed = async (part: string) => {
    const from = performance.now()
    await without(part, redactions)
    return performance.now() - from
  }
  await timed(text.slice(0, 50_000))
  const short = await timed(text.slice(0, text.length / 4))
  const long = await timed(text)
  // The text is four times as long. Quadratic time would take sixteen times as long.
  expect(long).toBeLessThan(Math.max(400, short * 12))
})

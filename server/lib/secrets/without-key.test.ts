import { describe, expect, test } from 'bun:test'
import { withoutKey } from './without-key.ts'

const key = 'sk-proj-Zq81LmW3vRx0TnB7cYd5HsK2fGjA9eUo4PiX6'

describe('no part of a key is left in a text:', () => {
  test.each([
    ['the whole', key],
    ['its first twenty characters', key.slice(0, 20)],
    ['its end', key.slice(-16)],
    ['a part from the middle', key.slice(9, 30)],
    ['base64', Buffer.from(key).toString('base64')],
    ['base64 behind a name', Buffer.from(`user:${key}`).toString('base64')],
    ['base64 behind a colon', Buffer.from(`:${key}`).toString('base64')],
    ['base64 for URLs', Buffer.from(`xy${key}`).toString('base64url')],
    ['two times', `${key} and ${key.slice(0, 20)}`],
  ])('%s', (_, echo) => {
    const clean = withoutKey(`The key ${echo}… is wrong.`, key)
    expect(clean).toStartWith('The key ')
    expect(clean).toEndWith('… is wrong.')
    expect(clean).toContain('[key]')
    for (const form of [key, Buffer.from(key).toString('base64')])
      for (let at = 0; at + 12 <= form.length; at++) expect(clean).not.toContain(form.slice(at, at + 12))
  })

  test('a key within a URL', () => {
    const odd = 'ab/cd+ef==gh/ij+kl==mn/op+qr'
    expect(withoutKey(`GET /?key=${encodeURIComponent(odd)}&a=1`, odd)).toBe('GET /?key=[key]&a=1')
  })

  test('each part of a key with several parts', () => {
    const clean = withoutKey('no zxcvbnm12345678901234567 here', 'app-id-1|zxcvbnm12345678901234567890')
    expect(clean).toBe('no [key] here')
  })
})

test('texts without the key are not changed', () => {
  for (const text of ['', 'sk-proj-', 'Incorrect API key provided: sk-proj-****PiX6.', 'a longer text of no interest'])
    expect(withoutKey(text, key)).toBe(text)
})

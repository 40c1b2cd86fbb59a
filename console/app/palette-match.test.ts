import { expect, test } from 'bun:test'
import { matching, score } from './palette-match.ts'

test('whole words rank above parts of words, which rank above scattered letters', () => {
  const texts = ['Renew the token', 'New token', 'A new one', 'Navigate with a wonderful token']
  const ranked = texts.map((text) => [text, score(text, 'new')])
  expect(ranked).toEqual([
    ['Renew the token', 2],
    ['New token', 4],
    ['A new one', 3],
    ['Navigate with a wonderful token', 0],
  ])
  expect(score('New token', 'nwtok')).toBe(1)
  expect(score('New token', 'token new')).toBe(3)
  expect(score('Anything', '')).toBe(1)
  expect(score('Users', 'zz')).toBe(0)
  expect(score('Top up', 'tu')).toBe(0)
})

test('commands are also found by their keywords, after those that are found by their names', () => {
  const command = (label: string, words?: string) => ({
    id: label,
    label,
    group: '',
    run() {},
    ...(words && { words }),
  })
  const all = [command('Copy base URL', 'API'), command('API reference'), command('Home')]
  expect(matching(all, 'api').map(({ label }) => label)).toEqual(['API reference', 'Copy base URL'])
  expect(matching(all, ' ')).toHaveLength(3)
})

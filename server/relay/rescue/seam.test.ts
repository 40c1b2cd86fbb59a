import { describe, expect, test } from 'bun:test'
import { Seam } from './seam.ts'

/**
 * Joins `next` to `shown` in pieces of several lengths, expects the same text for each length, and returns that text.
 */
function joined(shown: string, next: string, begunWith?: string): string {
  const results = [1, 3, 1000].map((size) => {
    const seam = new Seam(shown, begunWith)
    let text = shown
    for (let at = 0; at < next.length; at += size) text += seam.add(next.slice(at, at + size))
    return text + seam.end()
  })
  expect(new Set(results).size).toBe(1)
  return results[0] ?? ''
}

describe('Seam (joins a truncated answer and its continuation), if the model was asked to continue', () => {
  test.each([
    ['The quick bro', 'brown fox', 'The quick brown fox'],
    ['The quick brown', ' brown fox', 'The quick brown fox'],
    ['The quick brown fox', 'The quick brown fox jumps', 'The quick brown fox jumps'],
    ['a\n- one\n- tw', '- two\n- three', 'a\n- one\n- two\n- three'],
    ['|---|----|', '|---|----|--|', '|---|----|--|'],
    ['人工智能正在改', '正在改变世界', '人工智能正在改变世界'],
    ['서울에서 부산까지', '부산까지 두 시간', '서울에서 부산까지 두 시간'],
    ['🎉🎊🥳', '🎉🎊🥳👋', '🎉🎊🥳👋'],
    ['The end', 'The end', 'The end'],
  ])('drops the repetition from %j followed by %j', (shown, next, whole) => {
    expect(joined(shown, next)).toBe(whole)
  })

  test.each([
    ['ban', 'ana'],
    ['It is very, ', 'very good'],
    ['hot co', 'coa'],
    ['na na na ', 'na na na hey'],
    ['100', '000'],
    ['x = [0, 0, ', '0, 0, 0]'],
    ['    ', '    return'],
    ['}\n', '}\n'],
    ['=====', '====='],
    ['哈哈哈', '哈哈哈'],
    ['研究', '研究所'],
    ['ha ha ha ha ', 'ha ha!'],
    ['👍👍', '👍👍👍'],
  ])('drops nothing from %j followed by %j', (shown, next) => {
    expect(joined(shown, next)).toBe(shown + next)
  })

  test('drops a repetition of at most 200 characters, or of the whole text', () => {
    const words = Array.from({ length: 90 }, (_, index) => `w${index}`).join(' ')
    expect(joined(words, `${words.slice(-199)} end`)).toBe(`${words} end`)
    expect(joined(words, `${words.slice(-220)} end`)).toBe(`${words}${words.slice(-220)} end`)
    expect(joined(words, `${words} end`)).toBe(`${words} end`)
  })
})

describe('Seam, if the model was given the truncated answer as the beginning of its answer', () => {
  test.each([
    ['The quick bro', 'wn fox'],
    ['hot co', 'coa'],
    ['zero, one, two, ', 'one, two, three'],
  ])('drops nothing from %j followed by %j', (shown, next) => {
    expect(joined(shown, next, shown)).toBe(shown + next)
  })

  test('drops a repetition of the whole text or of a long piece at its end', () => {
    const shown = 'The bridge was opened in 1932, after nine years of work.'
    expect(joined(shown, `${shown} Then`, shown)).toBe(`${shown} Then`)
    expect(joined(shown, `${shown.slice(-30)} Then`, shown)).toBe(`${shown} Then`)
  })

  test('drops repeated white space if the model was not given it', () => {
    expect(joined('Then:\n\n', '\n\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then:\n', '\n\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then:\n\n', '\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then: ', 'beat', 'Then:')).toBe('Then: beat')
    expect(joined('Then:  ', '  Then:', 'Then:')).toBe('Then:  Then:')
  })
})

test('Seam never splits a surrogate pair, and does not send its first half twice', () => {
  expect(joined('See \ud83d', '😀 you')).toBe('See 😀 you')
  expect(joined('See \ud83d', '\ude00 you')).toBe('See 😀 you')
  expect(joined('We see \ud83d', 'We see 😀 you')).toBe('We see 😀 you')
  expect(joined('See 😀', '😁 you')).toBe('See 😀😁 you')
})

test('Seam quickly checks a long text that could be a repetition', () => {
  const shown = `${'a'.repeat(200_000)}b`
  const seam = new Seam(shown)
  let text = ''
  for (let at = 0; at < shown.length; at += 50_000) text += seam.add(shown.slice(at, at + 50_000))
  expect((text + seam.end()).length).toBeGreaterThan(0)
})

import { describe, expect, test } from 'bun:test'
import { Seam } from './seam.ts'

/** The text that a caller reads if one text is followed by another, whatever the length of the pieces. */
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

describe('a model that was asked to continue', () => {
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
  ])('%j, then %j: the repetition is dropped', (shown, next, whole) => {
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
  ])('%j, then %j: nothing is dropped', (shown, next) => {
    expect(joined(shown, next)).toBe(shown + next)
  })

  test('at most 200 characters count as a repetition, unless they are the whole text', () => {
    const words = Array.from({ length: 90 }, (_, index) => `w${index}`).join(' ')
    expect(joined(words, `${words.slice(-199)} end`)).toBe(`${words} end`)
    expect(joined(words, `${words.slice(-220)} end`)).toBe(`${words}${words.slice(-220)} end`)
    expect(joined(words, `${words} end`)).toBe(`${words} end`)
  })
})

describe('a model that was given the text to continue', () => {
  test.each([
    ['The quick bro', 'wn fox'],
    ['hot co', 'coa'],
    ['zero, one, two, ', 'one, two, three'],
  ])('%j, then %j: nothing is dropped', (shown, next) => {
    expect(joined(shown, next, shown)).toBe(shown + next)
  })

  test('the whole text and a long piece of it count as repetitions', () => {
    const shown = 'The bridge was opened in 1932, after nine years of work.'
    expect(joined(shown, `${shown} Then`, shown)).toBe(`${shown} Then`)
    expect(joined(shown, `${shown.slice(-30)} Then`, shown)).toBe(`${shown} Then`)
  })

  test('white space that the model was not given is expected again', () => {
    expect(joined('Then:\n\n', '\n\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then:\n', '\n\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then:\n\n', '\n* Beat', 'Then:')).toBe('Then:\n\n* Beat')
    expect(joined('Then: ', 'beat', 'Then:')).toBe('Then: beat')
    expect(joined('Then:  ', '  Then:', 'Then:')).toBe('Then:  Then:')
  })
})

test('a surrogate pair is never split, nor doubled if its first half was sent', () => {
  expect(joined('See \ud83d', '😀 you')).toBe('See 😀 you')
  expect(joined('See \ud83d', '\ude00 you')).toBe('See 😀 you')
  expect(joined('We see \ud83d', 'We see 😀 you')).toBe('We see 😀 you')
  expect(joined('See 😀', '😁 you')).toBe('See 😀😁 you')
})

test('a text that looks like a repetition for a long time does not take long to check', () => {
  const shown = `${'a'.repeat(200_000)}b`
  const seam = new Seam(shown)
  let text = ''
  for (let at = 0; at < shown.length; at += 50_000) text += seam.add(shown.slice(at, at + 50_000))
  expect((text + seam.end()).length).toBeGreaterThan(0)
})

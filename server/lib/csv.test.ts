import { expect, test } from 'bun:test'
import { byteOrderMark, csvLine } from './csv.ts'

test('every text is quoted, with quotes doubled', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\r\nlines', ''])).toBe(
    '"plain","a,b","say ""hi""","two\r\nlines",""\r\n',
  )
})

test('text that a spreadsheet would evaluate as a formula stays text', () => {
  for (const sign of ['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
    expect(csvLine([`${sign}1+1`])).toBe(`"'${sign}1+1"\r\n`)
    for (const blank of [' ', '   ', '\u00a0', '\u3000', '\u200b', '\ufeff'])
      expect(csvLine([`${blank}${sign}1`])).toBe(`"'${blank}${sign}1"\r\n`)
    for (const separator of [';', '; ', '\t', '\n'])
      expect(csvLine([`a${separator}${sign}1`])).toBe(`"a${separator[0]}'${separator.slice(1)}${sign}1"\r\n`)
  }
  expect(csvLine(['\t=1'])).toBe('"\'\t=1"\r\n')
  expect(csvLine(['\tx'])).toBe('"\'\tx"\r\n')
  expect(csvLine(['=HYPERLINK("http://x","y")'])).toBe('"\'=HYPERLINK(""http://x"",""y"")"\r\n')
  expect(csvLine(['a-b;c = d, e@f'])).toBe('"a-b;c = d, e@f"\r\n')
})

test('numbers stay numbers, including negative ones', () => {
  expect(csvLine([-5, 0, 2 ** 53, true, false])).toBe('-5,0,9007199254740992,true,false\r\n')
})

test('the byte order mark is that of UTF-8', () => {
  expect([...new TextEncoder().encode(byteOrderMark)]).toEqual([0xef, 0xbb, 0xbf])
})

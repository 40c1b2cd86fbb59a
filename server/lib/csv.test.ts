import { expect, test } from 'bun:test'
import { byteOrderMark, csvLine } from './csv.ts'

test('cells with separators, quotes and line ends are quoted, quotes doubled', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\r\nlines', ''])).toBe('plain,"a,b","say ""hi""","two\r\nlines",\r\n')
})

test('what a spreadsheet would calculate becomes text', () => {
  for (const start of ['=', '+', '-', '@']) expect(csvLine([`${start}1+1`])).toBe(`'${start}1+1\r\n`)
  expect(csvLine(['\t=1'])).toBe("'\t=1\r\n")
  expect(csvLine(['\r=1'])).toBe('"\'\r=1"\r\n')
  expect(csvLine(['\n=1'])).toBe('"\'\n=1"\r\n')
  expect(csvLine(['=HYPERLINK("http://x","y")'])).toBe('"\'=HYPERLINK(""http://x"",""y"")"\r\n')
})

test('numbers stay numbers, below zero too', () => {
  expect(csvLine([-5, 0, 2 ** 53, true, false])).toBe('-5,0,9007199254740992,true,false\r\n')
})

test('the mark is that of UTF-8', () => {
  expect([...new TextEncoder().encode(byteOrderMark)]).toEqual([0xef, 0xbb, 0xbf])
})

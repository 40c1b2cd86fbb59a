import { expect, test } from 'bun:test'
import { toCsv } from './csv.ts'

const bom = '\uFEFF'

test('rows are written as in RFC 4180, after a byte order mark', () => {
  expect(toCsv(['name', 'quota'], [['a', 1]])).toBe(`${bom}name,quota\r\na,1\r\n`)
  expect(toCsv(['a'], [['with "quotes"'], ['a, b'], ['two\nlines']])).toBe(
    `${bom}a\r\n"with ""quotes"""\r\n"a, b"\r\n"two\nlines"\r\n`,
  )
  expect(toCsv(['a', 'b', 'c'], [[undefined, null, false]])).toBe(`${bom}a,b,c\r\n,,false\r\n`)
})

test('text that a spreadsheet would read as a formula is escaped, but numbers stay numbers', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx']) {
    expect(toCsv(['a'], [[text]])).toBe(`${bom}a\r\n'${text}\r\n`)
  }
  expect(toCsv(['a'], [[-1]])).toBe(`${bom}a\r\n-1\r\n`)
  expect(toCsv(['=head'], [])).toBe(`${bom}'=head\r\n`)
})

import { describe, expect, test } from 'bun:test'
import { FormScanner } from './form-scanner.ts'

const body = Buffer.from(
  [
    'preamble --b',
    '--b',
    'Content-Disposition: form-data; name="model"',
    '',
    'whisper-1',
    '--b',
    'content-type: audio/mpeg',
    'CONTENT-DISPOSITION: form-data; filename="a; name=\\"model\\".mp3"; name="file"',
    '',
    'sound\r\n-\r\n--\r\n--a\r\n\r\n',
    '--b',
    'Content-Disposition: form-data; name=plain',
    '',
    'Zürich 東京 🚀',
    '--b  ',
    '',
  ].join('\r\n'),
)
const whole = Buffer.concat([body.subarray(0, body.lastIndexOf('--b')), Buffer.from('--b--\r\nepilogue --b')])

function scan(bytes: Uint8Array, cuts: readonly number[]): FormScanner {
  const scanner = new FormScanner('b')
  const ends = [0, ...cuts, bytes.length]
  for (let index = 1; index < ends.length; index++) scanner.push(bytes.subarray(ends[index - 1], ends[index]))
  scanner.finish()
  return scanner
}

describe('FormScanner', () => {
  test('finds the fields and their offsets, wherever the bytes are split', () => {
    const everyByte = Array.from({ length: whole.length - 1 }, (_, index) => index + 1)
    for (const cuts of [everyByte, ...everyByte.map((cut) => [cut])]) {
      const { fields, ranges, names } = scan(whole, cuts)
      expect([...fields]).toEqual([
        ['model', 'whisper-1'],
        ['plain', 'Zürich 東京 🚀'],
      ])
      expect([...names]).toEqual([
        ['model', 1],
        ['file', 1],
        ['plain', 1],
      ])
      for (const [name, { start, end }] of ranges)
        expect(whole.toString('utf8', start, end)).toBe(fields.get(name) ?? '')
    }
  })

  test('refuses anything but a line break after a boundary', () => {
    expect(() => scan(body, [])).toThrow('not followed by a line break')
  })

  test('skips a part without headers and finds the parts after it', () => {
    const field = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'
    const { fields } = scan(
      Buffer.from(`--b\r\n\r\n\r\n--b\r\n\r\nContent-Disposition: form-data; name="no"\r\n${field}--b--`),
      [],
    )
    expect([...fields]).toEqual([['a', 'x']])
  })

  test('refuses a part whose headers never end', () => {
    const body = '--b\r\nX: y\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nx\r\n--b--'
    expect(() => scan(Buffer.from(body), [])).toThrow('folded or broken')
  })

  test('finds an empty field', () => {
    const { fields } = scan(Buffer.from('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--b--'), [])
    expect([...fields]).toEqual([['a', '']])
  })
})

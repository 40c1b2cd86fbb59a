import { describe, expect, test } from 'bun:test'
import { EventReader } from './event-reader.ts'

const readAll = (pieces: readonly string[]) => {
  const reader = new EventReader()
  return pieces.flatMap((piece) => reader.push(piece))
}
const stream = 'data: {"a":1}\n\n: keep-alive\n\nevent: note\ndata:two\ndata: lines\nid: 7\n\ndata: [DONE]\n\n'
const events = ['{"a":1}', 'two\nlines', '[DONE]']

describe('an event stream', () => {
  test('is read in the same way no matter where it is split into chunks, and with every kind of line ending', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = stream.replaceAll('\n', end)
      expect(readAll([text])).toEqual(events)
      expect(readAll([...text])).toEqual(events)
      for (let at = 0; at <= text.length; at++) expect(readAll([text.slice(0, at), text.slice(at)])).toEqual(events)
    }
  })

  test('does not deliver an incomplete event', () => {
    expect(readAll(['data: half'])).toEqual([])
    expect(readAll(['data: half\n'])).toEqual([])
    expect(readAll(['data: half\n', '\n'])).toEqual(['half'])
  })

  test('drops one space after the colon, but no more', () => {
    expect(readAll(['data:  two spaces\n\n'])).toEqual([' two spaces'])
  })
})

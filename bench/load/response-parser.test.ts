import { describe, expect, test } from 'bun:test'
import { ResponseParser } from './response-parser.ts'

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const streamOf = (...events: string[]) =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${events.map(chunk).join('')}0\r\n\r\n`
const plainOf = (body: string, status = 200) => `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Feeds the bytes in chunks and returns the problem of each response, in order. */
function problems(stream: boolean, bytes: string, size: number): (string | undefined)[] {
  const found: (string | undefined)[] = []
  const parser = new ResponseParser(stream, {
    firstByte: () => undefined,
    bytes: () => undefined,
    end: (problem) => found.push(problem),
  })
  for (let at = 0; at < bytes.length; at += size) parser.feed(Buffer.from(bytes.slice(at, at + size)))
  return found
}

describe('the response parser', () => {
  for (const size of [1, 2, 3, 7, 50, 100_000]) {
    test(`finds the same problems when the bytes arrive in chunks of ${size}`, () => {
      const good = streamOf('data: {"a":1}\n\n', 'data: [DONE]\n\n')
      const merged = streamOf(`data: ${'x'.repeat(300)}\n\ndata: [DONE]\n\n`)
      const short = streamOf('data: {"a":1}\n\n')
      const split = streamOf('data: {"a":1}\n\ndata: [DO', 'NE]\n\n')
      expect(problems(true, good + merged + split, size)).toEqual([undefined, undefined, undefined])
      expect(problems(true, good + short + good, size)).toEqual([
        undefined,
        expect.stringContaining('no [DONE]'),
        undefined,
      ])
      expect(problems(true, good.slice(0, -5), size)).toEqual([])
      const answers = plainOf('{"a":1}') + plainOf('{"a":') + plainOf('{"error":1}', 500) + plainOf('{"a":2}')
      const wrong = [
        undefined,
        expect.stringContaining('not the end'),
        expect.stringContaining('status 500'),
        undefined,
      ]
      expect(problems(false, answers, size)).toEqual(wrong)
    })
  }
})

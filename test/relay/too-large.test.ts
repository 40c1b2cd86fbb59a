import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type ChildGateway, startChildGateway } from './child-gateway.ts'

// The gateway runs in a separate process, so that its memory can be measured separately from the test's.
let gateway: ChildGateway

beforeAll(async () => {
  gateway = await startChildGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

const size = 100 * 1024 * 1024
/** The memory that sockets and the runtime's read buffers may use. */
const margin = 40 * 1024 * 1024

async function residentBytes(): Promise<number> {
  const text = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
  return Number(/^tollgate_process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
}

/**
 * Sends the headers and then, depending on `body`, nothing, or zeros for as long as they are accepted. Resolves with
 * the response, even if the connection breaks off.
 */
function send(path: string, headers: readonly string[], body: 'plain' | 'chunked' | 'none'): Promise<string> {
  const { port } = new URL(gateway.url)
  return new Promise((resolve) => {
    let answer = ''
    let sent = 0
    const piece = Buffer.alloc(256 * 1024, '0')
    const frame =
      body === 'chunked'
        ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
        : piece
    const socket = connect(Number(port), '127.0.0.1')
    const pump = () => {
      while (sent < size && !socket.destroyed && answer === '') {
        sent += piece.length
        if (!socket.write(frame)) return
      }
    }
    const finish = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', () => {
      socket.write(`${[`POST ${path} HTTP/1.1`, 'host: x', ...headers].join('\r\n')}\r\n\r\n`)
      if (body !== 'none') pump()
    })
    socket.on('drain', pump)
    socket.on('data', (bytes) => {
      answer += bytes.toString()
      if (answer.includes('\r\n\r\n')) finish()
    })
    socket.on('close', finish)
    socket.on('error', finish)
  })
}

const json = 'content-type: application/json'
const form = 'content-type: multipart/form-data; boundary=b'

describe('a body of 100 MB is refused without filling the memory:', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['JSON', '/v1/chat/completions', json],
    ['a form', '/v1/audio/transcriptions', form],
  ]
  for (const [name, path, type] of cases) {
    test(`${name} with a Content-Length gets 413 before it is read`, async () => {
      const headers = [type, `authorization: Bearer ${gateway.token}`, `content-length: ${size}`]
      // The response is sent as soon as the headers have arrived, without waiting for the body.
      expect(await send(path, headers, 'none')).toStartWith('HTTP/1.1 413')
      await send(path, headers, 'plain')
      const before = await residentBytes()
      expect(await send(path, headers, 'plain')).toStartWith('HTTP/1.1 413')
      expect((await residentBytes()) - before).toBeLessThan(margin)
    })

    test(`${name} without a Content-Length gets 413 as soon as it exceeds the limit`, async () => {
      const before = await residentBytes()
      const headers = [type, `authorization: Bearer ${gateway.token}`, 'transfer-encoding: chunked']
      const answer = await send(path, headers, 'chunked')
      expect(answer).toStartWith('HTTP/1.1 4')
      // The limit is 32 MB, and up to that much of a JSON body may be buffered.
      expect((await residentBytes()) - before).toBeLessThan(40 * 1024 * 1024 + margin)
    })

    test(`${name} without a token gets 401 before it is read`, async () => {
      const before = await residentBytes()
      const answer = await send(path, [type, `content-length: ${size}`], 'plain')
      expect(answer).toStartWith('HTTP/1.1 401')
      expect((await residentBytes()) - before).toBeLessThan(margin)
    })
  }

  test('gets 404 if it is sent to a path that is not served', async () => {
    const before = await residentBytes()
    const answer = await send('/v1/nothing', [json, `content-length: ${size}`], 'plain')
    expect(answer).toStartWith('HTTP/1.1 404')
    expect((await residentBytes()) - before).toBeLessThan(margin)
  })
})

test('the gateway responds to other calls after ten such bodies at once', async () => {
  const headers = [json, `authorization: Bearer ${gateway.token}`, `content-length: ${size}`]
  const all = await Promise.all(Array.from({ length: 10 }, () => send('/v1/chat/completions', headers, 'plain')))
  for (const answer of all) expect(answer).toStartWith('HTTP/1.1 413')
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
})

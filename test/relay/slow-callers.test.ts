import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, chargedUnits, chatStream, type Rig, startRelayRig, until } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { StreamIdleTimeout: '3' } })
  await rig.channel({ models: 'm,tts-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

/**
 * A generous limit for what the sockets of both connections may buffer. A gateway that reads ahead without limit would
 * quickly exceed it.
 */
const mostBytes = 48 * 1024 * 1024

const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word '.repeat(2000) } }] })}\n\n`

/** Writes as fast as the gateway reads. `written` is the number of bytes written. */
function source(head: fake.Behaviour['run'], piece: string) {
  const state = { written: 0 }
  const run = fake.behaviour('source', async (exchange) => {
    await head(exchange)
    while (await exchange.write(piece)) {
      state.written += piece.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  return { state, run }
}

/** Makes a call over a raw socket that stops reading after the first bytes of the response. */
function callAndStopReading(path: string, body: object, { token }: Caller): Promise<Socket> {
  const { port } = new URL(rig.gateway.url)
  const text = JSON.stringify(body)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
  return new Promise((resolve) => {
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
  })
}

/**
 * Continues reading until the gateway disconnects, and resolves with the last bytes of the response. If the response is
 * complete, they are the final chunk.
 */
async function lastBytes(socket: Socket): Promise<string> {
  let end = ''
  const isOver = new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.on('data', (bytes) => {
      end = (end + bytes.toString('latin1')).slice(-5)
      if (end === '0\r\n\r\n') resolve()
    })
  })
  socket.resume()
  await isOver
  socket.destroy()
  return end
}

async function stopsGrowing(state: { written: number }): Promise<void> {
  let before = -1
  while (state.written !== before) {
    expect(state.written).toBeLessThan(mostBytes)
    before = state.written
    await new Promise((resolve) => setTimeout(resolve, 400))
  }
}

test('if a caller stops reading a stream, the gateway stops reading from the upstream, and the upstream’s idle time limit does not apply', async () => {
  const caller = await rig.caller({ user: 1e12, token: 1e12 })
  const { state, run } = source((exchange) => exchange.head(200, fake.streamHeaders()), event)
  rig.upstream.next(run)
  const socket = await callAndStopReading('/v1/chat/completions', chatStream, caller)
  await stopsGrowing(state)
  // This is longer than StreamIdleTimeout, but the silence is caused by the caller.
  await new Promise((resolve) => setTimeout(resolve, 3600))
  expect(rig.upstream.openStreams).toBe(1)
  const held = state.written
  let read = 0
  socket.on('data', (bytes) => {
    read += bytes.length
  })
  socket.resume()
  await until(() => state.written > held + 1_000_000)
  expect(read).toBeGreaterThan(0)
  socket.destroy()
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  const { rows } = await chargedUnits(rig, caller, 1e12)
  expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1 })
}, 120_000)

test('if a caller stops reading speech, the gateway also stops reading from the upstream', async () => {
  const caller = await rig.caller({ user: 1e12, token: 1e12 })
  const head = (exchange: fake.Exchange) => exchange.head(200, [['content-type', 'audio/mpeg']])
  const { state, run } = source(head, '\u0001'.repeat(16_384))
  rig.upstream.next(run)
  const body = { model: 'tts-1', input: 'Hello', voice: 'alloy' }
  const socket = await callAndStopReading('/v1/audio/speech', body, caller)
  await stopsGrowing(state)
  socket.destroy()
  await rig.upstream.until(({ openStreams }) => openStreams === 0)
  const { rows } = await chargedUnits(rig, caller, 1e12)
  expect(rows[0]).toMatchObject({ outcome: 'aborted' })
}, 120_000)

describe('if a caller reads nothing for longer than CallerIdleTimeout, the upstream call ends and the hold is released', () => {
  beforeAll(() => rig.gateway.setOption('CallerIdleTimeout', '1'))
  afterAll(() => rig.gateway.setOption('CallerIdleTimeout', '120'))

  test('for a stream: the caller gets an incomplete response when reading on', async () => {
    const caller = await rig.caller({ user: 1e12, token: 1e12 })
    const { run } = source((exchange) => exchange.head(200, fake.streamHeaders()), event)
    rig.upstream.next(run)
    const socket = await callAndStopReading('/v1/chat/completions', chatStream, caller)
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    const { rows } = await chargedUnits(rig, caller, 1e12)
    expect(rows[0]).toMatchObject({ outcome: 'aborted', estimated: 1 })
    expect(await lastBytes(socket)).not.toBe('0\r\n\r\n')
  }, 120_000)

  test('for speech: the caller gets an incomplete response when reading on', async () => {
    const caller = await rig.caller({ user: 1e12, token: 1e12 })
    const head = (exchange: fake.Exchange) => exchange.head(200, [['content-type', 'audio/mpeg']])
    const { run } = source(head, '\u0001'.repeat(16_384))
    rig.upstream.next(run)
    const body = { model: 'tts-1', input: 'Hello', voice: 'alloy' }
    const socket = await callAndStopReading('/v1/audio/speech', body, caller)
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    const { units, rows } = await chargedUnits(rig, caller, 1e12)
    expect(rows[0]).toMatchObject({ outcome: 'aborted' })
    expect(units).toBeGreaterThan(0)
    expect(await lastBytes(socket)).not.toBe('0\r\n\r\n')
  }, 120_000)
})

describe('a caller who does not complete a request gets 408, and the connection is closed', () => {
  beforeAll(async () => {
    await rig.gateway.setOption('CallerIdleTimeout', '0.5')
    await rig.gateway.setOption('RequestSizeLimit', '100000')
  })
  afterAll(async () => {
    await rig.gateway.setOption('CallerIdleTimeout', '120')
    await rig.gateway.setOption('RequestSizeLimit', '33554432')
  })

  /** Sends the beginning of a body and nothing more. Resolves with the response when the gateway has disconnected. */
  function begin(path: string, headers: readonly string[], piece: string): Promise<string> {
    const { port } = new URL(rig.gateway.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write([`POST ${path} HTTP/1.1`, 'host: x', ...headers, '', piece].join('\r\n'))
    return new Promise((resolve, reject) => {
      let answer = ''
      socket.on('data', (bytes) => {
        answer += bytes.toString()
      })
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })
  }

  const long = 'content-length: 90000'
  const short = 'content-length: 60000'
  const chunked = 'transfer-encoding: chunked'
  const form = 'content-type: multipart/form-data; boundary=b'

  test('for a relay call: short and long JSON of known and unknown length, and a form', async () => {
    const { token } = await rig.caller()
    const authorization = `authorization: Bearer ${token}`
    const before = rig.upstream.requests.length
    const answers = await Promise.all([
      begin('/v1/chat/completions', [authorization, short], '{"model":"m"'),
      begin('/v1/chat/completions', [authorization, long], '{"model":"m"'),
      begin('/v1/chat/completions', [authorization, chunked], '4\r\n{"mo\r\n'),
      begin('/v1/audio/transcriptions', [authorization, long, form], '--b\r\n'),
    ])
    for (const answer of answers) {
      expect(answer).toStartWith('HTTP/1.1 408 ')
      expect(answer).toContain('"code":"request_timeout"')
    }
    expect(rig.upstream.requests.length).toBe(before)
  })

  test('for a management call, even without an account', async () => {
    const answers = await Promise.all([
      begin('/api/user/login', [long], '{"username"'),
      begin('/api/user/login', [chunked], '4\r\n{"us\r\n'),
    ])
    for (const answer of answers) {
      expect(answer).toStartWith('HTTP/1.1 408 ')
      expect(answer).toContain(
        '{"success":false,"message":"The request body did not arrive in time.","code":"body_too_slow"}',
      )
    }
  })
})

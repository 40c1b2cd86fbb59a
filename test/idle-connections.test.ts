// Connections without requests are closed after a while. A connection with a call in progress is not closed for
// silence: only the time limits of the call apply.
import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import * as fake from './helpers/fake-upstream.ts'
import { Installation } from './helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from './money/installed.ts'

/** A raw connection, which records what it has received so far and when the other side closed it. */
function dial(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let heard = ''
  let resume: (() => void) | undefined
  socket.on('data', (bytes) => {
    heard += bytes.toString()
    resume?.()
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    closed,
    send: (text: string) => socket.write(text),
    async until(part: string) {
      while (!heard.includes(part)) {
        const more = new Promise<'more'>((resolve) => {
          resume = () => resolve('more')
        })
        if ((await Promise.race([more, closed])) !== 'more') throw new Error(`closed after ${heard}`)
      }
      heard = heard.slice(heard.indexOf(part) + part.length)
    },
  }
}

const health = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
const eventOf = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

test('connections without a call are closed after the idle time, and connections with a silent call stay open', async () => {
  await using upstream = await fake.startFakeUpstream()
  await using installation = new Installation(undefined, { IDLE_TIMEOUT: '1' })
  const gateway = await installation.start()
  await installFor(gateway, upstream.url)
  await gateway.api('PUT', '/api/option/', { key: 'KeepAliveInterval', value: '0' })
  const { key } = await newToken(gateway)
  const { promise: isLate, resolve: goOn } = Promise.withResolvers<void>()
  const silent = (head: readonly (readonly [string, string])[], first: string, rest: string) =>
    fake.behaviour('silent for long', async (exchange) => {
      exchange.head(200, head)
      await exchange.write(first)
      await isLate
      await exchange.write(rest)
      exchange.end()
    })
  const post = (body: object) => {
    const text = JSON.stringify({ model, messages, ...body })
    const head = [`authorization: Bearer ${key}`, 'content-type: application/json', `content-length: ${text.length}`]
    return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${head.join('\r\n')}\r\n\r\n${text}`
  }
  const streamed = dial(gateway.url)
  upstream.next(silent(fake.streamHeaders(), eventOf('before'), `${eventOf(' and after', 'stop')}data: [DONE]\n\n`))
  streamed.send(post({ stream: true }))
  await streamed.until('before')
  const plain = dial(gateway.url)
  const answer = JSON.stringify({ choices: [{ message: { content: 'at last' } }] })
  upstream.next(silent([['content-type', 'application/json']], '', answer))
  plain.send(post({}))
  await upstream.received(2)

  const idle = dial(gateway.url)
  idle.send(health)
  await idle.until('"ok"')
  const half = dial(gateway.url)
  half.send(`${health}GET /healthz HTTP/1.1\r\nho`)
  await half.until('"ok"')
  await Promise.all([idle.closed, half.closed])

  goOn()
  await streamed.until('[DONE]')
  await plain.until('at last')
  for (const each of [streamed, plain]) {
    each.send(health)
    await each.until('"ok"')
  }
  await Promise.all([streamed.closed, plain.closed])
  expect(await gateway.stop()).toBe(0)
}, 120_000)

test.each<[string, string, object]>([
  ['a long answer', '/v1/chat/completions', {}],
  ['a stream made from a complete upstream response', '/v1/messages', { max_tokens: 100, stream: true }],
])(
  '%s is delivered completely to a caller that pauses reading for longer than the idle time',
  async (_, path, fields) => {
    await using upstream = await fake.startFakeUpstream()
    await using installation = new Installation(undefined, { IDLE_TIMEOUT: '1' })
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const { key } = await newToken(gateway)
    const content = 'a'.repeat(30_000_000)
    const usage = { prompt_tokens: 8, completion_tokens: 9, total_tokens: 17 }
    const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage })
    upstream.next(
      fake.behaviour('long', async (exchange) => {
        exchange.head(200, [['content-type', 'application/json']])
        await exchange.write(answer)
        exchange.end()
      }),
    )
    const text = JSON.stringify({ model, messages, ...fields })
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
    const head = [`authorization: Bearer ${key}`, 'content-type: application/json', `content-length: ${text.length}`]
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${head.join('\r\n')}\r\n\r\n${text}`)
    let length = 0
    const { promise: hasAll, resolve: all } = Promise.withResolvers<void>()
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>()
    const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>()
    socket.on('close', () => over())
    socket.on('data', (bytes) => {
      length += bytes.length
      begun()
      if (length >= content.length) all()
    })
    await hasBegun
    socket.pause()
    // Opens a connection without a call and waits until it is closed. The idle time has then passed.
    const idle = dial(gateway.url)
    idle.send(health)
    await idle.closed
    socket.resume()
    await Promise.race([hasAll, isOver])
    expect(length).toBeGreaterThanOrEqual(content.length)
    socket.destroy()
  },
  120_000,
)

test('the connection of a live log without new rows stays open', async () => {
  await using installation = new Installation(undefined, { IDLE_TIMEOUT: '1' })
  const gateway = await installation.start()
  const live = dial(gateway.url)
  live.send('GET /api/log/stream HTTP/1.1\r\nhost: x\r\nauthorization: gatewayprocessaccesstoken\r\n\r\n')
  await live.until('text/event-stream')
  // Opens two connections without a call, one after the other, and waits until each is closed. The idle time has then
  // passed.
  for (let count = 0; count < 2; count++) {
    const idle = dial(gateway.url)
    idle.send(health)
    await idle.closed
  }
  const ended = gateway.stop()
  await live.until('shutting-down')
  expect(await ended).toBe(0)
}, 120_000)

test('a request body that never ends is not read any further once the call is refused', async () => {
  await using installation = new Installation()
  const gateway = await installation.start()
  const caller = dial(gateway.url)
  caller.send('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"mo\r\n')
  await caller.until('invalid_token')
  await caller.closed
})

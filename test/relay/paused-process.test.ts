// A debugger, a migration of the machine or a long computation can stop the gateway's process for a while. After it
// resumes, the gateway must not treat callers and upstreams as silent because it received nothing in this time.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { behaviour, type FakeUpstream, startFakeUpstream, streamHeaders } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import { installFor, messages, model, newToken } from '../money/installed.ts'

let upstream: FakeUpstream
let installation: Installation
let gateway: GatewayProcess
let token: string

beforeAll(async () => {
  upstream = await startFakeUpstream()
  installation = new Installation()
  gateway = await installation.start()
  await installFor(gateway, upstream.url)
  await gateway.api('POST', '/api/channel/', {
    type: 14,
    name: 'messages',
    key: 'key',
    base_url: upstream.url,
    models: 'claude-sonnet-4-5',
    group: 'default',
  })
  for (const name of ['StreamIdleTimeout', 'FirstByteTimeout', 'ConnectTimeout', 'RelayTimeout', 'CallerIdleTimeout'])
    await gateway.api('PUT', '/api/option/', { key: name, value: '1' })
  for (const key of ['RetryTimes', 'SameChannelRetries']) await gateway.api('PUT', '/api/option/', { key, value: '0' })
  token = (await newToken(gateway, 1_000_000)).key
})
afterAll(async () => {
  await installation[Symbol.asyncDispose]()
  await upstream.close()
})

/** Longer than every time limit in this test. */
const pauseMs = 2_500

/** Stops the process, does the work while it is stopped, and resumes it. */
async function paused(work: () => Promise<void>): Promise<void> {
  process.kill(gateway.pid, 'SIGSTOP')
  try {
    await work()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  } finally {
    process.kill(gateway.pid, 'SIGCONT')
  }
}

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
const chatEnd = `${chunk({ content: ' world' })}${chunk({}, 'stop')}data: [DONE]\n\n`
const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const usage = { input_tokens: 9, output_tokens: 2 }
const block = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const claudeStart =
  event({
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [], usage },
  } as never) +
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never) +
  event(block('Hello'))
const claudeEnd =
  event(block(' world')) +
  event({ type: 'content_block_stop', index: 0 } as never) +
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as never) +
  event({ type: 'message_stop' })

/** An upstream that sends the second part of its answer on demand. */
function inTwoParts(name: string, first: string, second: string) {
  const { promise: begun, resolve: begins } = Promise.withResolvers<void>()
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: sent, resolve: isSent } = Promise.withResolvers<void>()
  const answer = behaviour(name, async (exchange) => {
    if (first !== '') {
      exchange.head(200, streamHeaders())
      await exchange.write(first)
    }
    begins()
    await goesOn
    if (first === '') exchange.head(200, streamHeaders())
    await exchange.write(second)
    exchange.end()
    isSent()
  })
  return { answer, begun, goOn, sent }
}

const streams: [caller: string, path: string, body: object, first: string, second: string, end: string][] = [
  ['chat', '/v1/chat/completions', { model, messages, stream: true }, chunk({ content: 'Hello' }), chatEnd, '[DONE]'],
  [
    'Messages',
    '/v1/messages',
    { model: 'claude-sonnet-4-5', max_tokens: 9, messages, stream: true },
    claudeStart,
    claudeEnd,
    'message_stop',
  ],
  [
    'Messages, translated',
    '/v1/messages',
    { model, max_tokens: 9, messages, stream: true },
    chunk({ content: 'Hello' }),
    chatEnd,
    'message_stop',
  ],
  [
    'chat (no byte before the pause)',
    '/v1/chat/completions',
    { model, messages, stream: true },
    '',
    `${chunk({ content: 'Hello' })}${chatEnd}`,
    '[DONE]',
  ],
]

test.each(streams)(
  'a stream of %s that continued during the pause is delivered completely',
  async (_, path, body, first, second, end) => {
    const { answer, begun, goOn, sent } = inTwoParts('goes on while nobody listens', first, second)
    upstream.next(answer)
    const response = gateway.post(path, body, token)
    await begun
    await paused(async () => {
      goOn()
      await sent
    })
    const text = await (await response).text()
    expect(text).toContain('world')
    expect(text).toContain(end)
    expect(text).not.toContain('upstream_timeout')
  },
)

test('a stream that continues only after the pause is delivered completely, because the pause does not count towards the time limit', async () => {
  const { answer, begun, goOn } = inTwoParts('goes on afterwards', chunk({ content: 'Hello' }), chatEnd)
  upstream.next(answer)
  const response = gateway.post('/v1/chat/completions', { model, messages, stream: true }, token)
  await begun
  await paused(async () => undefined)
  goOn()
  expect(await (await response).text()).toEndWith('data: [DONE]\n\n')
})

test('a non-streamed response that arrived during the pause is delivered', async () => {
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  upstream.next(
    behaviour('answers while nobody listens', async (exchange) => {
      isAsked()
      await goesOn
      exchange.head(200, [['content-type', 'application/json']])
      const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
      const counts = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 }
      await exchange.write(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [choice], usage: counts }))
      exchange.end()
    }),
  )
  const response = gateway.post('/v1/chat/completions', { model, messages }, token)
  await asked
  await paused(async () => goOn())
  expect([(await response).status, await (await response).text()]).toEqual([200, expect.stringContaining('Hello')])
})

test('a request body is read if the rest of it arrived during the pause', async () => {
  const body = JSON.stringify({ model, messages, padding: 'x'.repeat(200_000) })
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const { promise: answered, resolve } = Promise.withResolvers<string>()
  socket.once('data', (bytes) => resolve(bytes.toString()))
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  await new Promise((done) => socket.write(head + body.slice(0, 100_000), done))
  // A call made after the first part was sent has been answered, so the first part has arrived by now.
  await gateway.post('/v1/chat/completions', { model, messages }, token)
  await paused(() => new Promise((done) => socket.write(body.slice(100_000), () => done())))
  expect(await answered).toStartWith('HTTP/1.1 200')
  socket.destroy()
})

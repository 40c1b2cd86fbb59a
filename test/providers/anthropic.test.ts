import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readChunks, startWired, type Wired } from './service.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
}
const stream = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const streamed = () =>
  new Response(stream.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })

describe('Anthropic', () => {
  test('serves a caller of OpenAI’s chat, streamed and not', async () => {
    await wired.channel(14, 'claude-x')
    wired.service.answer = ({ json }) => (json['stream'] ? streamed() : Response.json(message))
    const whole = (await (await wired.chat()).json()) as { choices: { message: { content: string } }[]; usage: object }
    expect(whole.choices[0]?.message.content).toBe('Hello')
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
    const [seen] = wired.service.seen
    expect(seen?.path).toBe('/v1/messages')
    expect(seen?.headers.get('x-api-key')).toBe('k')
    expect(seen?.headers.get('authorization')).toBeNull()
    expect(seen?.headers.get('anthropic-version')).toBe('2023-06-01')
    expect(seen?.json).toMatchObject({ model: 'claude-x', max_tokens: 4096 })
    const read = readChunks(await (await wired.chat({ stream: true })).text())
    expect(read).toMatchObject({ content: 'Hello', finish: 'stop', done: true })
  })

  test('receives requests in its own dialect with their bytes, version and beta features unchanged', async () => {
    await wired.channel(14, 'm')
    wired.service.answer = () => Response.json({ ...message, new_field: 1 })
    const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], unknown: { a: 1 } }
    const headers = { 'anthropic-version': '2024-01-01', 'anthropic-beta': 'some-feature' }
    const response = await wired.post('/v1/messages', body, { headers })
    expect((await response.json()) as object).toMatchObject({ new_field: 1, content: message.content })
    const [seen] = wired.service.seen
    expect(seen?.text).toBe(JSON.stringify(body))
    expect(seen?.headers.get('anthropic-version')).toBe('2024-01-01')
    expect(seen?.headers.get('anthropic-beta')).toBe('some-feature')
  })

  test('gets the versioned names that one-api assigned to old model names', async () => {
    await wired.channel(14, 'claude-2')
    wired.service.answer = () => Response.json(message)
    await wired.chat()
    expect(wired.service.seen[0]?.json['model']).toBe('claude-2.1')
  })

  test('counts tokens for callers of its own dialect', async () => {
    await wired.channel(14, 'claude-x')
    wired.service.answer = () => Response.json({ input_tokens: 42 })
    const response = await wired.post('/v1/messages/count_tokens', {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect((await response.json()) as object).toEqual({ input_tokens: 42 })
    expect(wired.service.seen[0]?.path).toBe('/v1/messages/count_tokens')
  })

  test('errors keep their status and meaning', async () => {
    await wired.channel(14, 'claude-x')
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    wired.service.answer = () => Response.json(error, { status: 529 })
    const response = await wired.chat()
    // Callers of OpenAI's chat do not know the status 529.
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('Overloaded')
  })
})

test('a compatible service lists its models under its own base URL', async () => {
  wired.service.answer = () => Response.json({ data: [{ id: 'claude-b' }, { id: 'claude-a' }] })
  const names = await wired.models(52, { base_url: `${wired.service.url}/v1` })
  expect(names).toEqual(['claude-a', 'claude-b'])
  expect(wired.service.seen[0]?.path).toBe('/v1/models?limit=1000')
  expect(wired.service.seen[0]?.headers.get('x-api-key')).toBe('k')
})

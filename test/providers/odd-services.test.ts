// Behaviour of services that their documentation does not describe or mentions only briefly. Also tests field names
// from callers that cannot be put into a header unchanged.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type OpenAI from 'openai'
import { clientsOf } from '../matrix/support/callers.ts'
import { eventsOf } from '../relay/setup.ts'
import { events, startWired, type Wired } from './service.ts'

setDefaultTimeout(120_000)

let wired: Wired
beforeAll(async () => {
  wired = await startWired()
})
afterAll(() => wired[Symbol.asyncDispose]())

const turn = { role: 'user' as const, content: 'Hi' }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
}
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'x',
  choices: [{ index: 0, delta, finish_reason, ...more }],
})
const clients = () => clientsOf(wired.rig.gateway.url, wired.rig.gateway.token)

describe('fields that cannot be sent to the channel’s service are reported as dropped', () => {
  const dropped = (answer: Response) => answer.headers.get('x-tollgate-dropped') ?? ''
  const ask = async (fields: object) => {
    await wired.channel(14, 'claude-sonnet-4-5')
    wired.service.answer = () => Response.json(message)
    return wired.chat(fields)
  }

  test('with any characters in their names', async () => {
    const answer = await ask({ 'größe, 長さ\n': 1 })
    expect(answer.status).toBe(200)
    expect(decodeURIComponent(dropped(answer))).toBe('größe, 長さ\n')
    const broken = await ask({ 'half a sign \ud83d': 1 })
    expect([broken.status, dropped(broken).startsWith('half a sign %')]).toEqual([200, true])
  })

  test('even if there are many, in a header that every client accepts', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`some_field_${index}`, index]))
    const answer = await ask(many)
    expect(dropped(answer).length).toBeLessThan(2100)
    const [, rest = ''] = /and (\d+) more$/.exec(dropped(answer)) ?? []
    expect(dropped(answer).split(', ').length - 1 + Number(rest)).toBe(3000)
  })

  test('or are refused under strict translation, with an equally short message', async () => {
    await wired.rig.gateway.setOption('StrictTranslationEnabled', 'true')
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`some_field_${index}`, index]))
    const answer = await ask(many)
    await wired.rig.gateway.setOption('StrictTranslationEnabled', 'false')
    expect(answer.status).toBe(400)
    expect((await answer.text()).length).toBeLessThan(2500)
  })

  test('Claude’s newer models accept either temperature or top_p', async () => {
    const answer = await ask({ temperature: 0.7, top_p: 0.9 })
    expect(dropped(answer)).toBe('top_p')
    expect(wired.service.seen.at(-1)?.json).toMatchObject({ temperature: 0.7 })
    expect(wired.service.seen.at(-1)?.json).not.toHaveProperty('top_p')
    const usual = await ask({ temperature: 0.7, top_p: 1 })
    expect([dropped(usual), wired.service.seen.at(-1)?.json['top_p']]).toEqual(['', undefined])
    await ask({ top_p: 0.9 })
    expect(wired.service.seen.at(-1)?.json).toMatchObject({ top_p: 0.9 })
  })
})

test('a malformed data URL does not cause a gateway failure', async () => {
  await wired.channel(14, 'claude-sonnet-4-5')
  wired.service.answer = () => Response.json(message)
  const image = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
  const answer = await wired.chat({ messages: [image('data:text/plain,100%25 50%')] })
  expect(answer.status).toBe(200)
  expect(wired.service.seen.at(-1)?.text).toContain('100% 50%')
})

test('calls that a service sends with the same index stay separate calls', async () => {
  await wired.channel(8, 'x')
  const call = (id: string, x: number) => ({
    tool_calls: [{ index: 0, id, type: 'function', function: { name: 'f', arguments: `{"x":${x}}` } }],
  })
  wired.service.answer = () =>
    events(chunk({ role: 'assistant', ...call('a', 1) }), chunk(call('b', 2)), chunk({}, 'tool_calls'), '[DONE]')
  const { anthropic } = clients()
  const answer = await anthropic.messages
    .stream({
      model: 'm',
      max_tokens: 100,
      messages: [turn],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    })
    .finalMessage()
  expect(answer.content).toMatchObject([
    { type: 'tool_use', id: 'a', input: { x: 1 } },
    { type: 'tool_use', id: 'b', input: { x: 2 } },
  ])
})

describe('sources that Google sends in the event with the signature at the end of the text', () => {
  const stream = () =>
    events(
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Rome is old.' }] }, index: 0 }] },
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '', thoughtSignature: 'c2ln' }] },
            finishReason: 'STOP',
            index: 0,
            groundingMetadata: {
              groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }],
              groundingSupports: [
                { segment: { startIndex: 0, endIndex: 12, text: 'Rome is old.' }, groundingChunkIndices: [0] },
              ],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      },
    )

  test.each([
    ['/v1/chat/completions', { messages: [turn] }],
    ['/v1/messages', { messages: [turn], max_tokens: 100 }],
    ['/v1/responses', { input: 'Hi' }],
  ])(
    'reach callers of %s, and so does the signature if the dialect has a field for it after the text',
    async (path, fields) => {
      await wired.channel(24, 'gemini-3-pro-preview')
      wired.service.answer = stream
      const text = await (await wired.post(path, { model: 'm', stream: true, ...fields })).text()
      expect(text).toContain('https://a.example/')
      const envelope = Buffer.from('{"tollgate":').toString('base64')
      if (path === '/v1/messages') expect(text).not.toContain(envelope)
      else expect(text).toContain(path === '/v1/chat/completions' ? 'c2ln' : envelope)
    },
  )
})

test('a signature that arrives together with its call is kept for callers of the Responses API', async () => {
  await wired.channel(20, 'google/gemini-3-pro')
  const seal = { type: 'reasoning.encrypted', data: 'c2ln', format: 'google-gemini-v1', index: 0, id: 'a' }
  const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  for (const deltas of [
    [{ role: 'assistant', tool_calls: [call], reasoning_details: [seal] }],
    [{ role: 'assistant', tool_calls: [call] }, { reasoning_details: [seal] }],
  ]) {
    wired.service.answer = () => events(...deltas.map((each) => chunk(each)), chunk({}, 'tool_calls'), '[DONE]')
    const { openai } = clients()
    const answer = await openai.responses.stream({ model: 'm', input: 'Hi' }).finalResponse()
    const sealed = answer.output.filter((item) => item.type === 'reasoning').map((item) => item.encrypted_content)
    expect(sealed.map((text) => Buffer.from(text ?? '', 'base64').toString())).toEqual([
      expect.stringContaining('"value":"c2ln"'),
    ])
  }
})

test('an answer that Anthropic paused is not reported as complete', async () => {
  await wired.channel(14, 'claude-sonnet-4-5')
  wired.service.answer = () => Response.json({ ...message, stop_reason: 'pause_turn' })
  const { openai } = clients()
  const chat = await openai.chat.completions.create({ model: 'm', messages: [turn] })
  expect(chat.choices[0]?.finish_reason).toBe('length')
  const response = await openai.responses.create({ model: 'm', input: 'Hi' })
  expect(response.status).toBe('incomplete')
})

describe('token probabilities', () => {
  const of = (token: string, logprob: number) => ({
    token,
    logprob,
    bytes: [...Buffer.from(token)],
    top_logprobs: [{ token, logprob, bytes: [...Buffer.from(token)] }],
  })
  const all = [of('Hel', -0.5), of('lo', -0.25)]

  const google = (index: number, text: string, more: object = {}) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        logprobsResult: {
          chosenCandidates: [{ token: text, logProbability: all[index]?.logprob }],
          topCandidates: [{ candidates: [{ token: text, logProbability: all[index]?.logprob }] }],
        },
        ...more,
      },
    ],
  })
  const responses = (type: string, rest: object) => ({ type, output_index: 0, content_index: 0, ...rest })
  /** The same answer from each service, as a stream. */
  const services: [string, number, string, () => Response][] = [
    ['Gemini', 24, 'gemini-2.5-flash', () => events(google(0, 'Hel'), google(1, 'lo', { finishReason: 'STOP' }))],
    [
      'the Responses API',
      1,
      'gpt-5-pro',
      () =>
        events(
          { type: 'response.created', response: { id: 'resp_1', model: 'x', created_at: 1 } },
          responses('response.output_item.added', { item: { id: 'msg_1', type: 'message', content: [] } }),
          responses('response.output_text.delta', { delta: 'Hel', logprobs: [all[0]] }),
          responses('response.output_text.delta', { delta: 'lo', logprobs: [all[1]] }),
          responses('response.output_text.done', { text: 'Hello', logprobs: all }),
          { type: 'response.completed', response: { status: 'completed' } },
        ),
    ],
    [
      'OpenAI’s chat',
      25,
      'x',
      () =>
        events(
          chunk({ role: 'assistant', content: 'Hel' }, null, { logprobs: { content: [all[0]] } }),
          chunk({ content: 'lo' }, null, { logprobs: { content: [all[1]] } }),
          chunk({}, 'stop'),
          '[DONE]',
        ),
    ],
  ]

  test.each(services)(
    'from %s are sent to callers of each other dialect that has a field for them',
    async (_name, type, model, answer) => {
      await wired.channel(type, model)
      wired.service.answer = answer
      if (type !== 25) await toChat()
      if (type !== 1) await toResponses()
      if (type !== 24) await toGoogle()
    },
  )

  async function toChat() {
    const chat = await clients()
      .openai.chat.completions.stream({ model: 'm', messages: [turn], logprobs: true, top_logprobs: 1 })
      .finalChatCompletion()
    expect(chat.choices[0]?.logprobs?.content).toEqual(all)
  }

  async function toResponses() {
    const response = await clients()
      .openai.responses.stream({ model: 'm', input: 'Hi', top_logprobs: 1, include: ['message.output_text.logprobs'] })
      .finalResponse()
    expect(response.output).toMatchObject([{ content: [{ text: 'Hello', logprobs: all }] }])
  }

  async function toGoogle() {
    const config = { responseLogprobs: true, logprobs: 1 }
    const tokens: unknown[] = []
    for await (const each of await clients().google.models.generateContentStream({
      model: 'm',
      contents: 'Hi',
      config,
    }))
      tokens.push(...(each.candidates?.[0]?.logprobsResult?.chosenCandidates ?? []))
    expect(tokens).toEqual(all.map(({ token, logprob }) => ({ token, logProbability: logprob })))
  }

  test('are requested from OpenAI chat services if a caller of the Responses API requests them', async () => {
    await wired.channel(25, 'x')
    wired.service.answer = () => events(chunk({ content: 'Hello' }, 'stop'), '[DONE]')
    await wired.post('/v1/responses', { model: 'm', input: 'Hi', stream: true, top_logprobs: 2 })
    expect(wired.service.seen.at(-1)?.json).toMatchObject({ logprobs: true, top_logprobs: 2 })
  })

  test('also arrive if the answer is not streamed', async () => {
    await wired.channel(25, 'x')
    const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
    wired.service.answer = () => Response.json({ id: 'c', choices: [{ ...choice, logprobs: { content: all } }] })
    const body = { model: 'm', input: 'Hi', top_logprobs: 1 }
    const answer = (await (await wired.post('/v1/responses', body)).json()) as OpenAI.Responses.Response
    expect(answer.output).toMatchObject([{ content: [{ text: 'Hello', logprobs: all }] }])
  })
})

test.each([
  [4008, 429, 'the bot was used as often as it may be in a day'],
  [4011, 503, 'nothing is left to pay with'],
  [4013, 503, 'the model is at fault'],
  [4015, 404, 'the bot is not published'],
  [700012006, 503, 'the token is wrong'],
])('Coze’s code %d becomes status %d: %s', async (code, status, msg) => {
  await wired.channel(34, 'bot-1')
  const named = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
  const stream = named('conversation.chat.failed', { id: 'chat_1', last_error: { code, msg } })
  wired.service.answer = () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  expect((await wired.chat({ stream: true })).status).toBe(status)
  wired.service.answer = () => Response.json({ code, msg })
  const answer = await wired.chat()
  // Details of errors about the channel's account are only for its operator.
  const told = code === 4011 || code === 700012006 ? 'upstream_unavailable' : msg
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(told)])
})

test('OpenAI models that think get no temperature, because they would refuse it', async () => {
  await wired.channel(8, 'gpt-5-mini')
  const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
  wired.service.answer = () => Response.json({ id: 'c', choices: [choice] })
  const contents = [{ parts: [{ text: 'Hi' }] }]
  const generationConfig = { temperature: 0.3, topP: 0.95, presencePenalty: 0.5 }
  const ask = (config: object) => wired.post('/v1beta/models/m:generateContent', { contents, generationConfig: config })
  const names = ['generationConfig.presencePenalty', 'generationConfig.temperature', 'generationConfig.topP']
  const first = await ask(generationConfig)
  expect(first.headers.get('x-tollgate-dropped')?.split(', ').sort()).toEqual(names)
  expect(wired.service.seen.at(-1)?.json).toEqual({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] })
  await wired.chat({ temperature: 0.3 })
  expect(wired.service.seen.at(-1)?.json).toMatchObject({ temperature: 0.3 })
  await wired.channel(8, 'gpt-4o')
  expect((await ask(generationConfig)).headers.get('x-tollgate-dropped')).toBeNull()
})

describe('the part of a prompt that is stored at the service is charged, although it is not in the request', () => {
  const usageMetadata = { promptTokenCount: 90_000, candidatesTokenCount: 5, totalTokenCount: 90_005 }
  const google = { candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }], usageMetadata }
  const openai = {
    id: 'resp_1',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
    usage: { input_tokens: 90_000, output_tokens: 5, total_tokens: 90_005 },
  }
  const contents = [{ parts: [{ text: 'Hi' }] }]

  test.each([
    ['Gemini’s cache', 24, '/v1beta/models/m:generateContent', { contents, cachedContent: 'cachedContents/1' }, google],
    ['a conversation', 1, '/v1/responses', { model: 'm', input: 'Hi', conversation: 'conv_1' }, openai],
    ['a stored prompt', 1, '/v1/responses', { model: 'm', input: 'Hi', prompt: { id: 'pmpt_1' } }, openai],
  ])('%s', async (_name, type, path, body, answer) => {
    await wired.channel(type, 'x')
    wired.service.answer = () => Response.json(answer)
    expect((await wired.post(path, body)).status).toBe(200)
    const [row] = await wired.rig.gateway.logs()
    expect([row?.prompt_tokens, row?.completion_tokens, row?.estimated]).toEqual([90_000, 5, 0])
  })
})

test('text that a bot adds to the prompt is charged', async () => {
  await wired.channel(34, 'bot-1')
  const named = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
  const said = named('conversation.message.delta', { type: 'answer', content: 'Hello' })
  const usage = { token_count: 40_003, input_count: 40_000, output_count: 3 }
  wired.service.answer = () =>
    new Response(said + named('conversation.chat.completed', { id: 'chat_1', usage }), {
      headers: { 'content-type': 'text/event-stream' },
    })
  expect((await wired.chat()).status).toBe(200)
  const [row] = await wired.rig.gateway.logs()
  expect([row?.prompt_tokens, row?.completion_tokens, row?.estimated]).toEqual([40_000, 3, 0])
})

test('images have a creation time, even if the service sends none', async () => {
  await wired.channel(24, 'imagen-4.0-generate-001', { models: 'm' })
  wired.service.answer = () => Response.json({ predictions: [{ bytesBase64Encoded: 'aW1n', mimeType: 'image/png' }] })
  const answer = await wired.post('/v1/images/generations', { model: 'm', prompt: 'a cat' })
  expect(await answer.json()).toMatchObject({ created: expect.any(Number), data: [{ b64_json: 'aW1n' }] })
})

test('callers of every dialect get an error if a stream ends without its end marker', async () => {
  await wired.channel(24, 'gemini-2.5-flash')
  wired.service.answer = () => events({ candidates: [{ content: { parts: [{ text: 'Hel' }] }, index: 0 }] })
  const path = '/v1beta/models/m:streamGenerateContent?alt=sse'
  const text = await (await wired.post(path, { contents: [{ parts: [{ text: 'Hi' }] }] })).text()
  expect(eventsOf(text).at(-1)).toContain('"error"')
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { RateLimitError, toFile } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { outcomeOf } from './support/outcome.ts'
import { plainCharge, soundCharge } from './support/prices.ts'
import { answer, chatReply, chunk, events, json, usageChunk } from './support/replies.ts'
import { type Rig, startRelayRig } from './support/rig.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'How warm is it in Oslo?' }]

let rig: Rig
let client: OpenAI
beforeAll(async () => {
  rig = await startRelayRig([
    model,
    'text-embedding-3-small',
    'dall-e-2',
    'gpt-image-1',
    'tts-1',
    'whisper-1',
    'gpt-4o-transcribe',
    'omni-moderation-latest',
  ])
  client = await rig.through()
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Checks that the call through the gateway returns or throws the same as the call directly to the upstream. */
async function expectSame(call: (sdk: OpenAI) => Promise<unknown>) {
  const direct = await outcomeOf(() => call(rig.direct))
  expect(direct.error).toBeUndefined()
  expect(await outcomeOf(() => call(client))).toEqual(direct)
  return direct.value
}

async function expectLog(prompt: number, completion: number, quota = plainCharge(prompt, completion)): Promise<void> {
  const row = await rig.lastLog()
  expect([row.prompt_tokens, row.completion_tokens, row.quota]).toEqual([prompt, completion, quota])
}

const all = async (stream: Promise<AsyncIterable<unknown>>) => {
  const chunks: unknown[] = []
  for await (const one of await stream) chunks.push(one)
  return chunks
}

describe('the official SDK', () => {
  test('completes a chat', async () => {
    rig.answer(json(chatReply({ content: 'Four degrees.' }), 200, { 'x-request-id': 'req-7' }))
    const value = await expectSame((sdk) => sdk.chat.completions.create({ model, messages }))
    expect(value).toMatchObject({ _request_id: 'req-7' })
    await expectLog(12, 7)
  })

  test('reads a stream, without the usage event if the caller did not request it', async () => {
    const told = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Four ° ☀' }), chunk({}, 'stop')]
    rig.answer(events(...told, usageChunk, '[DONE]'))
    const ask = (include_usage: boolean) => (sdk: OpenAI) =>
      all(sdk.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage } }))
    expect(await expectSame(ask(true))).toEqual([...told, usageChunk])
    expect(await ask(false)(client)).toEqual(told)
    expect(rig.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
    await expectLog(12, 7)
  })

  test('runs a tool loop with runTools, streamed and not', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'warmth', arguments: '{"city":"Oslo"}' } }
    const loops = [
      [json(chatReply({ content: null, tool_calls: [call] }, 'tool_calls')), json(chatReply({ content: 'Four.' }))],
      [
        events(
          chunk({
            role: 'assistant',
            tool_calls: [{ index: 0, ...call, function: { name: 'warmth', arguments: '' } }],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
          chunk({}, 'tool_calls'),
          usageChunk,
          '[DONE]',
        ),
        events(chunk({ role: 'assistant', content: 'Four.' }), chunk({}, 'stop'), usageChunk, '[DONE]'),
      ],
    ] as const
    for (const [stream, [first, second]] of loops.entries()) {
      const run = async (sdk: OpenAI) => {
        rig.answer(first, second)
        const asked: string[] = []
        const warmth = (args: { city: string }) => `${asked.push(args.city)}: 4`
        const parameters = { type: 'object', properties: { city: { type: 'string' } } }
        const tool = {
          type: 'function' as const,
          function: { name: 'warmth', description: '', parameters, parse: JSON.parse, function: warmth },
        }
        const params = { model, messages, tools: [tool] }
        const runner = stream
          ? sdk.chat.completions.runTools({ ...params, stream: true, stream_options: { include_usage: true } })
          : sdk.chat.completions.runTools(params)
        return [await runner.finalContent(), asked, runner.messages, await runner.totalUsage()]
      }
      expect((await expectSame(run)) as unknown[]).toContain('Four.')
      await expectLog(12, 7)
    }
  })

  test('parses structured output with parse', async () => {
    rig.answer(json(chatReply({ content: '{"city":"Oslo","degrees":4}' })))
    const response_format = zodResponseFormat(z.object({ city: z.string(), degrees: z.number() }), 'warmth')
    const value = await expectSame((sdk) => sdk.chat.completions.parse({ model, messages, response_format }))
    expect(value).toMatchObject({ choices: [{ message: { parsed: { city: 'Oslo', degrees: 4 } } }] })
  })

  test('gets embeddings, which it requests as base64', async () => {
    const embedding = Buffer.from(new Float32Array([0.25, -1, 3]).buffer).toString('base64')
    const data = [{ object: 'embedding', index: 0, embedding }]
    rig.answer(
      json({ object: 'list', data, model: 'text-embedding-3-small', usage: { prompt_tokens: 5, total_tokens: 5 } }),
    )
    const value = await expectSame((sdk) => sdk.embeddings.create({ model: 'text-embedding-3-small', input: 'a b c' }))
    expect(value).toMatchObject({ data: [{ embedding: [0.25, -1, 3] }] })
    await expectLog(5, 0)
  })

  test('generates images', async () => {
    rig.answer(
      json({ created: 1, data: [{ url: 'https://images.example/1.png' }, { url: 'https://images.example/2.png' }] }),
    )
    await expectSame((sdk) => sdk.images.generate({ model: 'dall-e-2', prompt: 'a fjord', n: 2, size: '256x256' }))
    expect((await rig.lastLog()).quota).toBe(16_000)
    const usage = {
      input_tokens: 320,
      output_tokens: 1056,
      total_tokens: 1376,
      input_tokens_details: { text_tokens: 20, image_tokens: 300 },
    }
    rig.answer(json({ created: 1, data: [{ b64_json: 'aGVsbG8=' }], usage }))
    const image = await toFile(Buffer.from('a picture'), 'a.png', { type: 'image/png' })
    await expectSame((sdk) => sdk.images.edit({ model: 'gpt-image-1', image, prompt: 'bluer' }))
    const row = await rig.lastLog()
    expect([row.prompt_tokens, row.completion_tokens, Boolean(row.estimated)]).toEqual([320, 1056, false])
  })

  test('generates speech', async () => {
    rig.answer(answer(new Uint8Array([255, 251, 144, 0, 1, 2]), { 'content-type': 'audio/mpeg' }))
    const input = 'Fjære, så vidt 🌊'
    await expectSame(async (sdk) => {
      const response = await sdk.audio.speech.create({ model: 'tts-1', voice: 'alloy', input })
      return Buffer.from(await response.arrayBuffer()).toString('hex')
    })
    expect((await rig.lastLog()).quota).toBe(plainCharge([...input].length, 0))
  })

  test('gets transcriptions as JSON, as text and as a stream', async () => {
    const file = await toFile(Buffer.alloc(2000), 'speech.wav')
    rig.answer(json({ text: 'Good morning.', usage: { type: 'duration', seconds: 30 } }))
    await expectSame((sdk) => sdk.audio.transcriptions.create({ model: 'whisper-1', file }))
    expect((await rig.lastLog()).quota).toBe(soundCharge(30))
    rig.answer(answer('WEBVTT\n\n00:00.000 --> 00:02.000\nGood morning.\n', { 'content-type': 'text/vtt' }))
    await expectSame((sdk) => sdk.audio.transcriptions.create({ model: 'whisper-1', file, response_format: 'vtt' }))
    expect(Boolean((await rig.lastLog()).estimated)).toBe(true)
    const usage = {
      type: 'tokens',
      input_tokens: 40,
      output_tokens: 3,
      total_tokens: 43,
      input_token_details: { text_tokens: 0, audio_tokens: 40 },
    }
    rig.answer(
      events(
        { type: 'transcript.text.delta', delta: 'Good ' },
        { type: 'transcript.text.delta', delta: 'morning.' },
        { type: 'transcript.text.done', text: 'Good morning.', usage },
      ),
    )
    await expectSame((sdk) => all(sdk.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, stream: true })))
    // Audio tokens have their own price.
    await expectLog(40, 3, 40 * 16 + 3 * 40)
  })

  test('gets moderations', async () => {
    const result = { flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }
    rig.answer(json({ id: 'modr-1', model: 'omni-moderation-latest', results: [result] }))
    await expectSame((sdk) => sdk.moderations.create({ model: 'omni-moderation-latest', input: 'a calm sentence' }))
  })

  test('lists models', async () => {
    await rig.gateway.addChannel({ base_url: rig.upstream.url, models: `${model},house/special` })
    const ids: string[] = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toContain('house/special')
    expect(await client.models.retrieve('house/special')).toMatchObject({ id: 'house/special', object: 'model' })
    expect((await outcomeOf(() => client.models.retrieve('nothing'))).error).toMatchObject({
      name: 'NotFoundError',
      code: 'model_not_found',
    })
  })

  test('gets errors with their class, code, parameter and Retry-After', async () => {
    const error = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' }
    rig.answer(json({ error }, 429, { 'retry-after': '7' }))
    const failed = await client.chat.completions.create({ model, messages }).catch((thrown: unknown) => thrown)
    expect(failed).toBeInstanceOf(RateLimitError)
    const { status, code, type, param, message, headers } = failed as RateLimitError
    expect({ status, code, type, param }).toEqual({ status: 429, code: error.code, type: error.type, param: null })
    expect(message).toStartWith('429 Slow down. (request id: ')
    expect(headers.get('retry-after')).toBe('7')
  })

  test('throws if an answer breaks off or ends without its end marker', async () => {
    rig.answer(events(chunk({ role: 'assistant', content: 'Half an ans' })))
    const got: unknown[] = []
    const read = async () => {
      for await (const one of await client.chat.completions.create({ model, messages, stream: true })) got.push(one)
    }
    expect((await outcomeOf(read)).error).toMatchObject({ name: 'APIError', code: 'upstream_stream_incomplete' })
    expect(got).toEqual([chunk({ role: 'assistant', content: 'Half an ans' })])
    expect(await rig.lastLog()).toMatchObject({ outcome: 'interrupted' })
  })

  test('prompt usage that is impossible is rejected, and prompt usage that is higher because of tools is accepted', async () => {
    const usage = { prompt_tokens: 1_000_000_000, completion_tokens: 7, total_tokens: 1_000_000_007 }
    const reply = { ...(chatReply({ content: 'Four.' }) as object), usage }
    rig.answer(json(reply))
    await client.chat.completions.create({ model, messages })
    const row = await rig.lastLog()
    expect(row.prompt_tokens).toBeLessThan(50)
    expect(row.content).toContain('refused')
    rig.answer(json({ ...reply, usage: { prompt_tokens: 150_000, completion_tokens: 7, total_tokens: 150_007 } }))
    await client.chat.completions.create({ model, messages, web_search_options: {} })
    await expectLog(150_000, 7)
  })

  const total = (
    prompt_tokens: number,
    completion_tokens: number,
    total_tokens = prompt_tokens + completion_tokens,
  ) => ({
    prompt_tokens,
    completion_tokens,
    total_tokens,
  })
  const reasoning = { completion_tokens_details: { reasoning_tokens: 50 } }
  const variants: [name: string, usage: object, prompt: number, completion: number, quota: number][] = [
    ['reasoning included in the completion', { ...total(10, 60), ...reasoning }, 10, 60, 10 * 8 + 60 * 40],
    [
      'reasoning in addition to the completion, according to the total',
      { ...total(10, 20, 80), ...reasoning },
      10,
      70,
      10 * 8 + 70 * 40,
    ],
    [
      'reasoning in addition to the completion and the total',
      { ...total(10, 20), ...reasoning, market_cost: 1 },
      10,
      70,
      10 * 8 + 70 * 40,
    ],
    ['more reasoning than completion tokens', { ...total(10, 20), ...reasoning }, 10, 70, 10 * 8 + 70 * 40],
    ['cache hits in the details', { ...total(30, 5), prompt_tokens_details: { cached_tokens: 20 } }, 30, 5, 360],
    ['cache hits in Mistral’s field', { ...total(30, 5), num_cached_tokens: 20 }, 30, 5, 360],
    ['cache hits in DeepSeek’s field', { ...total(30, 5), prompt_cache_hit_tokens: 20 }, 30, 5, 360],
    [
      'more cache hits than prompt tokens',
      { ...total(30, 5), prompt_tokens_details: { cached_tokens: 90 } },
      30,
      5,
      440,
    ],
    [
      'audio in addition to the prompt',
      { ...total(9, 5, 54), prompt_tokens_details: { audio_tokens: 40 } },
      49,
      5,
      912,
    ],
  ]
  test.each(variants)('usage with %s is charged correctly', async (_name, usage, prompt, completion, quota) => {
    rig.answer(json({ ...(chatReply({ content: 'Four.' }) as object), usage }))
    await client.chat.completions.create({ model, messages })
    await expectLog(prompt, completion, quota)
    expect(Boolean((await rig.lastLog()).estimated)).toBe(false)
  })
})

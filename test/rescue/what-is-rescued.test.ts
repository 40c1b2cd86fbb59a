// A stream is rescued if another attempt continues it after it broke off. These tests check which streams are rescued,
// how services are asked to continue, and what callers receive.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { goOnText } from '../../server/relay/upstream/going-on.ts'
import { sdkReaders } from '../dialects/sdk-readers.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chargedUnits, eventsOf, type Seen, see, textOf, until } from '../relay/setup.ts'
import { answerIn, withoutComments } from './answers.ts'
import { givenIn, goesOn, type RescueRig, says, startRescueRig } from './stage.ts'
import { texts } from './texts.ts'

let rig: RescueRig

beforeAll(async () => {
  rig = await startRescueRig()
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.services('openai-chat', 'openai-chat'))

const text = texts.plain
const cut = 100
const breaksOff = (breaks: 'end' | 'error' = 'end') => says({ text: text.slice(0, cut), breaks })
const callers: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']
const lastRequest = () => rig.upstream.requests.at(-1)?.json as JsonObject & { messages: JsonObject[] }

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
/** Sends chunks of a chat stream and breaks off. */
const chunks = (...deltas: object[]) =>
  fake.behaviour('chunks', async (exchange) => {
    exchange.head(200, fake.streamHeaders())
    await exchange.write(deltas.map((delta) => chunk(delta)).join(''))
    exchange.end()
  })

describe('there is no rescue for', () => {
  const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
  const call = { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }] }
  const cases: Record<string, { first: fake.Behaviour; asked?: JsonObject }> = {
    'an answer that has begun to call a tool': {
      first: chunks({ role: 'assistant', content: 'I look it up.' }, call, {
        tool_calls: [{ index: 0, function: { arguments: '{"a' } }],
      }),
      asked: { tools: [tool] },
    },
    'an answer with an image': {
      first: chunks(
        { content: 'See: ' },
        { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      ),
    },
    'a refusal': { first: chunks({ refusal: 'I cannot' }) },
    'an answer that is JSON': { first: breaksOff(), asked: { response_format: { type: 'json_object' } } },
    'an answer with log probabilities': { first: breaksOff(), asked: { logprobs: true } },
    'one of several answers': { first: breaksOff(), asked: { n: 2 } },
    'an answer that continues a stored one': { first: breaksOff(), asked: { previous_response_id: 'resp_1' } },
    'an answer that is as long as was asked for': { first: breaksOff(), asked: { max_tokens: 10 } },
  }

  test.each(Object.keys(cases))('%s', async (name) => {
    const { first, asked = {} } = cases[name] ?? { first: breaksOff() }
    const isStored = 'previous_response_id' in asked
    if (isStored) await rig.services('openai-responses')
    rig.next(first, goesOn(text))
    const seen = await rig.whole(isStored ? 'openai-responses' : 'openai-chat', asked)
    expect(seen.text).toContain('upstream_stream_incomplete')
    expect(rig.upstream.requests).toHaveLength(1)
  })

  test('an answer that a content filter has ended', async () => {
    const error = {
      error: {
        message: 'content management policy',
        code: 'content_filter',
        type: 'invalid_request_error',
        status: 400,
      },
    }
    rig.next(
      fake.behaviour('filtered', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(`${chunk({ content: 'It is done by ' })}data: ${JSON.stringify(error)}\n\n`)
        exchange.end()
      }),
      goesOn(text),
    )
    const seen = await rig.whole('openai-chat')
    expect(seen.error?.code).toBe('content_filter')
    expect(rig.upstream.requests).toHaveLength(1)
  })

  test('a call that has no time left', async () => {
    rig.next(says({ text: text.slice(0, cut), breaks: 'hang' }), goesOn(text))
    const answer = await rig.ask('openai-chat', {}, undefined, { headers: { 'x-tollgate-timeout': '1' } })
    const seen = await answer.text()
    expect(seen).toContain('upstream_timeout')
    expect(rig.upstream.requests).toHaveLength(1)
  })
})

describe('the service that continues', () => {
  const use = async (type: number, fields: object = {}) => {
    await rig.clear()
    await rig.channel({ type: 31, key: 'first', priority: 2 })
    await rig.channel({ type, key: 'second', priority: 1, ...fields })
  }

  test('gets the answer so far, and then a message that asks it to continue', async () => {
    rig.next(breaksOff(), goesOn(text))
    await rig.whole('openai-chat', { max_tokens: 500 })
    const { messages, max_tokens: limit } = lastRequest()
    expect(messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: text.slice(0, cut) },
      { role: 'user', content: goOnText },
    ])
    // The caller's token limit is for the whole answer, so the second attempt gets only the rest of it.
    expect(limit).toBeLessThan(490)
    expect(limit).toBeGreaterThan(400)
  })

  test.each([
    { type: 28, mark: 'prefix', repeats: cut },
    { type: 25, mark: 'partial', repeats: 0 },
    { type: 49, mark: 'partial', repeats: 0 },
    { type: 36, mark: 'prefix', repeats: 0 },
  ])('continues its own last message if it supports this: channel type $type', async ({ type, mark, repeats }) => {
    await use(type)
    rig.next(breaksOff(), goesOn(text, { repeats }))
    expect(answerIn('openai-chat', await rig.whole('openai-chat')).text).toBe(text)
    expect(lastRequest().messages.slice(1)).toEqual([{ role: 'assistant', content: text.slice(0, cut), [mark]: true }])
    if (type === 36) expect(rig.upstream.last.path).toBe('/beta/chat/completions')
  })

  test.each([
    { model: 'claude-3-5-sonnet', isBegun: true },
    { model: 'claude-opus-4-6', isBegun: false },
  ])('continues its own last message only if the model supports this: $model', async ({ model, isBegun }) => {
    await rig.gateway.setOption('ModelRatio', `{"m":1,"${model}":1}`)
    await use(14, { model_mapping: `{"m":"${model}"}` })
    // Trailing white space is not sent to Claude, so Claude generates it again.
    const at = text.indexOf(' in 1932') + 1
    rig.next(says({ text: text.slice(0, at), breaks: 'end' }), goesOn(text))
    expect(answerIn('openai-chat', await rig.whole('openai-chat')).text).toBe(text)
    const { given, isBegun: begun } = givenIn(rig.upstream.last)
    expect(begun).toBe(isBegun)
    expect(given).toBe(isBegun ? text.slice(0, at).trimEnd() : text.slice(0, at))
  })

  test('is asked with an additional user message if it refuses a request that ends with its own unfinished turn', async () => {
    await use(28)
    rig.next(breaksOff(), fake.status(400, { message: 'prefix is not supported by this model' }), goesOn(text))
    expect(answerIn('openai-chat', await rig.whole('openai-chat')).text).toBe(text)
    expect(lastRequest().messages.at(-1)).toMatchObject({ role: 'user', content: goOnText })
    expect(rig.upstream.requests).toHaveLength(3)
  })

  test('is tried on further channels if one channel fails', async () => {
    await rig.services('openai-chat', 'openai-chat', 'openai-chat')
    rig.next(breaksOff(), fake.status(401), goesOn(text))
    expect(answerIn('openai-chat', await rig.whole('openai-chat')).text).toBe(text)
    expect(rig.upstream.requests.map(({ key }) => key)).toEqual(['key-0', 'key-1', 'key-2'])
  })

  test('is the same channel if there is no other', async () => {
    await rig.services('openai-chat')
    rig.next(breaksOff(), goesOn(text))
    expect(answerIn('openai-chat', await rig.whole('openai-chat')).text).toBe(text)
  })

  test('gets the beginning of the turn that the caller wrote, as part of the turn', async () => {
    await use(14)
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Well: ' },
    ]
    rig.next(breaksOff(), goesOn(`Well: ${text}`))
    const seen = await rig.whole('openai-chat', { messages })
    expect(answerIn('openai-chat', seen).text).toBe(text)
  })
})

describe.each(callers)('a caller of %s', (caller) => {
  const stream = { reasoning: 'Let me think.' }

  test('does not get reasoning and text twice', async () => {
    for (const service of ['openai-chat', caller] as const) {
      await rig.services(service, service)
      rig.next(
        says({ text: text.slice(0, cut), thought: stream.reasoning, breaks: 'end' }),
        goesOn(text, { thought: 'I must go on.' }),
      )
      const seen = await rig.whole(caller)
      expect(answerIn(caller, seen)).toMatchObject({ text, thought: stream.reasoning })
    }
  })

  test('gets the whole answer if only reasoning has arrived', async () => {
    for (const service of ['openai-chat', caller] as const) {
      await rig.services(service, service)
      rig.next(says({ text: '', thought: stream.reasoning, breaks: 'end' }), goesOn(text, { thought: 'Once more.' }))
      const seen = await rig.whole(caller)
      expect(answerIn(caller, seen)).toMatchObject({ text, thought: stream.reasoning })
    }
  })

  test('gets the same error as without the option if the stream cannot be rescued', async () => {
    for (const service of ['openai-chat', caller] as const) {
      await rig.services(service, service)
      const refusals = Array.from({ length: 9 }, () => fake.status(400, { message: 'no' }))
      rig.next(breaksOff('error'), ...refusals)
      const rescued = await rig.whole(caller)
      await rig.gateway.setOption('StreamRescue', 'false')
      rig.next(breaksOff('error'))
      const plain = await rig.whole(caller)
      await rig.gateway.setOption('StreamRescue', 'true')
      const last = (body: string) =>
        withoutComments(body)
          .trim()
          .split('\n\n')
          .at(-1)
          ?.replaceAll(/"(?:created_at|request_id)":"?\w+"?|\d{20,}/g, '')
      expect(last(rescued.text)).toBe(last(plain.text))
    }
  })

  test('gets a stream that the official SDK reads', async () => {
    for (const service of callers) {
      await rig.services(service, service)
      rig.next(
        says({ text: text.slice(0, cut), thought: 'Hm.', breaks: 'end' }),
        goesOn(text, { usage: { promptTokens: 50, completionTokens: 40 } }),
      )
      const { text: body, headers } = await rig.whole(caller)
      const replay = Bun.serve({
        port: 0,
        fetch: () => new Response(body, { headers: { 'content-type': headers.get('content-type') ?? '' } }),
      })
      try {
        const learned = await sdkReaders[caller](`http://127.0.0.1:${replay.port}`, {
          model: 'm',
          input: 'Hi',
          max_tokens: 10,
          messages: [{ role: 'user', content: 'Hi' }],
          contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        })
        expect(learned).toMatchObject({ text, thought: 'Hm.' })
        expect(learned.usage.completion).toBeGreaterThan(60)
      } finally {
        await replay.stop(true)
      }
    }
  })

  test('gets the tool call that the second service makes', async () => {
    const tools: Readonly<Record<DialectName, JsonObject>> = {
      'openai-chat': { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] },
      'openai-responses': { tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }] },
      'anthropic-messages': { tools: [{ name: 'look', input_schema: { type: 'object' } }] },
      gemini: { tools: [{ functionDeclarations: [{ name: 'look', parameters: { type: 'object' } }] }] },
    }
    rig.next(
      breaksOff(),
      fake.behaviour('calls', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const fn = { name: 'look', arguments: '{"a":1}' }
        const call = { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: fn }] }
        await exchange.write(chunk({ content: text.slice(cut) }) + chunk(call) + chunk({}, 'tool_calls'))
        await exchange.write('data: [DONE]\n\n')
        exchange.end()
      }),
    )
    const seen = await rig.whole(caller, tools[caller])
    expect(answerIn(caller, seen).text).toBe(text)
    expect(answerIn(caller, seen).calls).toEqual([{ name: 'look', input: { a: 1 } }])
  })
})

test('if an answer breaks off after only keep-alives, another channel begins it', async () => {
  await rig.gateway.setOption('KeepAliveInterval', '1')
  for (const caller of callers)
    for (const service of new Set<DialectName>(['openai-chat', caller])) {
      await rig.services(service, service)
      // On a busy machine, the gateway may send its first keep-alive before the service has begun to respond. The
      // outcome of the call is then not "rescued".
      let outcome: string | undefined
      for (let tries = 0; tries < 5 && outcome !== 'rescued'; tries++) outcome = await begunByAnother(caller, service)
      expect([caller, service, outcome]).toEqual([caller, service, 'rescued'])
    }
  await rig.gateway.setOption('KeepAliveInterval', '15')
})

/** Makes a call whose first service sends nothing but a comment, and returns the outcome in its log row. */
async function begunByAnother(caller: DialectName, service: DialectName): Promise<string | undefined> {
  const begun = Promise.withResolvers<void>()
  rig.next(
    fake.behaviour('says nothing', async (exchange) => {
      exchange.head(200, fake.streamHeaders())
      await exchange.write(': I am here\n\n')
      await begun.promise
      exchange.end()
    }),
    says({ text, thought: 'Hm.' }),
  )
  const by = await rig.caller()
  const response = await rig.ask(caller, {}, by.token)
  // The gateway answers with the first keep-alive.
  begun.resolve()
  const seen = await see(response)
  expect([caller, service, answerIn(caller, seen)]).toMatchObject([caller, service, { text, thought: 'Hm.' }])
  const { rows } = await chargedUnits(rig, by)
  expect(rows).toHaveLength(1)
  return rows[0]?.outcome
}

test('a caller who did not request usage gets no usage', async () => {
  rig.next(breaksOff(), goesOn(text))
  const seen = await rig.whole('openai-chat', { stream_options: null })
  expect(answerIn('openai-chat', seen)).toMatchObject({ text, usage: undefined })
})

test('keep-alives are sent until the other service begins', async () => {
  await rig.gateway.setOption('KeepAliveInterval', '1')
  const keptAlive = Promise.withResolvers<void>()
  rig.next(
    breaksOff(),
    fake.behaviour('slow', async (exchange) => {
      await keptAlive.promise
      return goesOn(text).run(exchange)
    }),
  )
  const decoder = new TextDecoder()
  let got = ''
  for await (const bytes of (await rig.ask('openai-chat')).body ?? []) {
    got += decoder.decode(bytes, { stream: true })
    if (/^:/m.test(got)) keptAlive.resolve()
  }
  await rig.gateway.setOption('KeepAliveInterval', '15')
  expect(textOf(withoutComments(got))).toBe(text)
})

test('if services misbehave in random ways, every call ends, and neither its retries nor its charge exceed the limits', async () => {
  let seed = 7
  const random = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % most
  }
  const breaks = ['end', 'error', 'reset', 'nonsense'] as const
  const usages = [undefined, { promptTokens: 1, completionTokens: 1 }, { promptTokens: 700, completionTokens: 9_000 }]
  for (let round = 0; round < 60; round++) {
    if (round % 6 === 0) await rig.services(callers[random(4)] ?? 'gemini', callers[random(4)] ?? 'gemini')
    const caller = callers[random(4)] ?? 'gemini'
    const quota = 30 + random(600)
    const by = await rig.caller({ user: quota, token: quota })
    const misbehaves = () =>
      [
        () =>
          says({ text: text.slice(0, random(text.length)), size: 1 + random(40), breaks: breaks[random(4)] ?? 'end' }),
        () => fake.status([400, 401, 429, 500, 503][random(5)] ?? 500),
        () => says({ text: text.repeat(20), usage: usages[random(3)] }),
        () => fake.endlessStream(5),
      ][random(4)]?.() ?? fake.status(500)
    rig.next(...Array.from({ length: 12 }, misbehaves))
    const seen = await rig.whole(caller, {}, by)
    expect(seen.status).toBeGreaterThanOrEqual(200)
    await until(async () => (await rig.gateway.balances(by.userId, by.tokenId)).holds === 0)
    const { quota: left, used } = await rig.gateway.balances(by.userId, by.tokenId)
    expect(left).toBeGreaterThanOrEqual(0)
    expect(used).toBeLessThanOrEqual(quota)
    // A first attempt and two retries, each sent at most twice, before the stream begins and for each of two rescues: 3
    // × 2 × 3 = 18 requests.
    expect(rig.upstream.requests.length).toBeLessThanOrEqual(18)
    await chargedUnits(rig, by, quota)
  }
}, 120_000)

test('if the service had ended its text part before the stream broke off, the continuation is a new text part', async () => {
  for (const caller of ['anthropic-messages', 'openai-responses'] as const) {
    await rig.services(caller, caller)
    rig.next(says({ text: text.slice(0, cut), breaks: 'end', endsText: true }), goesOn(text))
    const { text: body } = await rig.whole(caller)
    const seen = answerIn(caller, { status: 200, broken: false, text: body } as Seen, 2)
    expect(seen.text).toBe(text)
    if (caller === 'openai-responses') {
      const last = JSON.parse(eventsOf(body).at(-1) ?? '{}') as {
        response: { output: { content: { text: string }[] }[] }
      }
      expect(last.response.output.map(({ content }) => content[0]?.text)).toEqual([text.slice(0, cut), text.slice(cut)])
    }
  }
})

test.each([
  ['the same text part counts from the beginning of that part', 'openai-responses', false],
  ['the same text part of another dialect counts from the beginning of that part', 'gemini', false],
  ['a new text part counts from the beginning of the new part', 'openai-responses', true],
] as const)('the range of a citation in the continuation of %s', async (_, other, endsText) => {
  await rig.services('openai-responses', other)
  const rest = text.slice(cut)
  rig.next(
    says({ text: text.slice(0, cut), breaks: 'end', endsText }),
    goesOn(text, { cites: { start: 1, end: rest.length } }),
  )
  const { text: body } = await rig.whole('openai-responses')
  const { response } = JSON.parse(eventsOf(body).at(-1) ?? '{}') as {
    response: { output: { content: { text: string; annotations: { start_index: number; end_index: number }[] }[] }[] }
  }
  const parts = response.output.flatMap(({ content }) => content)
  const cited = parts.flatMap((part) =>
    part.annotations.map((each) => part.text.slice(each.start_index, each.end_index)),
  )
  expect(cited).toEqual([rest.slice(1)])
})

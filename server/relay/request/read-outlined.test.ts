// A long body is read from its outline. Whatever it contains, everything that is decided and charged must be the same as
// if the body had been parsed.
import { describe, expect, test } from 'bun:test'
import { seeded } from '../../../test/fuzz/random.ts'
import { listCases, loadCase } from '../../../test/helpers/recordings.ts'
import { swept } from '../../../test/helpers/sweeps.ts'
import { readRequest } from '../../dialects/openai-passthrough/request.ts'
import { hostedTools } from '../../dialects/wire/hosted-tools.ts'
import { GatewayError } from '../../errors.ts'
import { systemClock } from '../../lib/clock.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { Turns } from '../../lib/turns.ts'
import { fieldsOf, type JsonBody, readJson } from '../body/json-body.ts'
import { callRouteOf } from '../call/call-routes.ts'
import { createDeadlineWatch } from '../cancellation/deadline-watch.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { parametersOf } from './parameters-of.ts'
import { readOutlined } from './read-outlined.ts'
import { sessionOf } from './session-key.ts'

const random = seeded(77)
const turns = new Turns()
const route = callRouteOf('http://gateway/v1/chat/completions')
if (!route) throw new Error('no such call')
const deps = { turns, deadlineWatch: createDeadlineWatch(systemClock) }

/** The body as a caller's request, or the code and message with which it is refused. */
async function read(text: string, outlines: boolean): Promise<JsonBody | string> {
  const source = new Response(text)
  const limits = { bytes: 64 * 1024 * 1024, declared: Buffer.byteLength(text), timeMs: 0 }
  return refusal(() => readJson(source, limits, deps, { admit: undefined, outlines }))
}

async function refusal<T>(work: () => T | Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `${error.code} ${error.param ?? ''}: ${error.message}`
  }
}

/** Everything that is decided from a body, or why it is refused. */
async function decided(body: JsonBody | string) {
  if (typeof body === 'string') return body
  return refusal(() => {
    const known = body.outline && readOutlined(body.outline, undefined)
    const facts = known?.facts ?? readRequest('chat', body.json)
    const { prompt, ...rest } = facts
    const { texts, ...counts } = prompt
    const source = {
      affinity: 'on',
      tokenId: 7,
      headers: new Headers(),
      body,
      mode: 'chat',
      dialect: 'openai-chat',
    } as const
    return {
      isOutlined: known !== undefined,
      all: {
        rest,
        counts,
        promptGuess: known?.promptGuess ?? quickEstimate(prompt),
        session: sessionOf(source),
        parameters: parametersOf({ mode: 'chat' }, body, facts),
        tools: hostedTools(fieldsOf(body), facts.model),
        names: Object.keys(fieldsOf(body)),
        texts,
      },
    }
  })
}

/** Expects the same decisions with and without an outline. Returns true if the body was read from its outline. */
async function expectSame(text: string): Promise<boolean> {
  const outlined = await decided(await read(text, true))
  const plain = await decided(await read(text, false))
  if (typeof outlined === 'string' || typeof plain === 'string') {
    expect(outlined).toBe(plain as string)
    return false
  }
  if (!Bun.deepEquals(outlined.all, plain.all)) expect(outlined.all).toEqual(plain.all)
  return outlined.isOutlined
}

const filler = [
  'plain words of a page ',
  'line\n',
  'é言葉🚀 ',
  '"quoted" ',
  '\ud83d',
  '\\ and / ',
  '{"content":"x"}',
  '\u2028',
]
function long(): string {
  const piece = Array.from({ length: 1 + random.int(4) }, () => random.pick(filler)).join('')
  return piece.repeat(Math.ceil((1_500 + random.int(12_000)) / piece.length))
}

/** Values with long texts in fields where they do not count as ordinary text of the prompt. */
const oddParts: readonly (() => unknown)[] = [
  () => ({ type: 'image_url', image_url: { url: 'https://example.com/a.png' }, text: long() }),
  () => ({ type: 'image_url', image_url: { url: 'https://example.com/a.png' }, content: `file:///etc/${long()}` }),
  () => ({ type: 'image_url', image_url: { text: `gopher:${long()}` } }),
  () => ({ type: 'text', text: long(), content: long() }),
  () => ({ type: 'thinking', thinking: [{ text: long() }, { text: long() }] }),
  () => ({ type: 'tool_result', content: [{ type: 'text', text: long() }] }),
  () => ({ type: 'input_audio', input_audio: { data: 'AAAA', text: long() } }),
  () => ({ type: 'file', file: { file_data: { text: long() } } }),
  () => ({ type: 'document', media_type: 'text/plain', data: { text: long() } }),
  () => ({ type: 'text', text: { text: long() } }),
  () => long(),
]
const oddMembers: readonly (() => JsonObject)[] = [
  () => ({ content: long() }),
  () => ({ text: long() }),
  () => ({ text: { format: { type: 'json_schema', text: long() } } }),
  () => ({ tools: [{ type: 'function', function: { name: 'f', description: long(), parameters: { text: long() } } }] }),
  () => ({ tools: [{ type: 'web_search', text: long(), search_context_size: 'high' }] }),
  () => ({ prediction: { type: 'content', content: long() } }),
  () => ({ response_format: { type: 'json_schema', text: long() } }),
  () => ({ metadata: { text: long(), user_id: 'u_session_5' } }),
  () => ({ stream_options: { text: long() } }),
  () => ({ documents: [{ text: long() }] }),
  () => ({ data: `data:${long()}`, image: { text: long() } }),
  () => ({ max_tokens: random.pick([100, -1, 1.5, '7', 2 ** 31]), n: random.pick([1, 3, 1000]) }),
  () => ({ model: random.pick(['', 5, 'x'.repeat(300), 'gpt-4o-search-preview']) }),
  () => ({ stream: random.pick([true, 'yes']), service_tier: 'flex', modalities: ['text', 'audio'] }),
]
const oddMessages: readonly (() => unknown)[] = [
  () => ({ role: 'assistant', content: long(), reasoning_content: long(), reasoning_details: [{ text: long() }] }),
  () => ({ role: 'assistant', content: 'short', reasoning_details: [{ type: 'reasoning.text', text: long() }] }),
  () => ({ role: 'assistant', content: null, reasoning: 'r'.repeat(200), reasoning_details: [{ text: long() }] }),
  () => ({ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: long() } }], text: long() }),
  () => ({ role: 'tool', tool_call_id: 'a', content: long() }),
  () => ({ role: 'user', name: long(), content: long() }),
  () => ({ role: 'user', content: { text: long() } }),
  () => ({ content: long() }),
  () => ({ role: long(), content: 'x' }),
  () => long(),
]

function message(): unknown {
  if (random.chance(0.015)) return random.pick(oddMessages)()
  const role = random.pick(['system', 'user', 'assistant', 'developer'])
  if (random.chance(0.6)) return { role, content: random.chance(0.3) ? 'short' : long() }
  return {
    role,
    content: Array.from({ length: 1 + random.int(3) }, () =>
      random.chance(0.03) ? random.pick(oddParts)() : { type: 'text', text: random.chance(0.3) ? 'short' : long() },
    ),
  }
}

function chat(): JsonObject {
  return {
    model: 'gpt-4o-mini',
    messages: Array.from({ length: 12 + random.int(8) }, message),
    temperature: 0.5,
    ...(random.chance(0.25) && random.pick(oddMembers)()),
  }
}

test('random chats, with long texts wherever a text may be', async () => {
  let outlined = 0
  for (let round = 0; round < 60; round++) if (await expectSame(JSON.stringify(chat()))) outlined++
  expect(outlined).toBeGreaterThan(15)
})

describe('long texts in every odd position', () => {
  const plain = { role: 'user', content: 'words '.repeat(12_000) }
  test.each(oddParts.map((make, at) => [at, make] as const))('part %i', async (_, make) => {
    await expectSame(JSON.stringify({ model: 'm', messages: [plain, { role: 'user', content: [make()] }] }))
  })
  test.each(oddMessages.map((make, at) => [at, make] as const))('message %i', async (_, make) => {
    await expectSame(JSON.stringify({ model: 'm', messages: [plain, make()] }))
  })
  test.each(oddMembers.map((make, at) => [at, make] as const))('member %i', async (_, make) => {
    await expectSame(JSON.stringify({ model: 'm', messages: [plain], ...make() }))
  })
  // The texts of a reasoning part are joined. The text after a long text must not be mistaken for a part of the long
  // text's placeholder.
  test.each(['5', ' ', '0', '.0', 'e0', '~'])('a thought of a long text and "%s"', async (more) => {
    const thought = [{ type: 'reasoning.text', text: 'thought '.repeat(9_000) }, { text: more }]
    const assistant = { role: 'assistant', content: 'short', reasoning_details: thought }
    const turns = Array.from({ length: 5 }, () => ({ role: 'user', content: 'x'.repeat(1_100) }))
    await expectSame(JSON.stringify({ model: 'm', messages: [assistant, ...turns] }))
    await expectSame(
      JSON.stringify({ model: 'm', messages: [{ ...assistant, content: [{ thinking: thought }] }, ...turns] }),
    )
  })
  test.each([
    ['a repeated name', '{"model":"m","model":"n","messages":[{"role":"user","content":"TEXT"}]}'],
    ['an escaped repeated name', '{"model":"m","\\u006dodel":"n","messages":[{"role":"user","content":"TEXT"}]}'],
    ['a repeated text', '{"model":"m","messages":[{"role":"user","content":"TEXT","content":"x"}]}'],
    ['an escaped name of a text', '{"model":"m","messages":[{"role":"user","c\\u006fntent":"TEXT","content":"TEXT"}]}'],
    ['__proto__', '{"model":"m","__proto__":{"content":"TEXT"},"messages":[{"role":"user","content":"TEXT"}]}'],
    ['a list', '[{"content":"TEXT"}]'],
    ['a number beyond range', '{"model":"m","max_tokens":1e400,"messages":[{"role":"user","content":"TEXT"}]}'],
  ])('%s', async (_, text) => {
    await expectSame(text.replaceAll('TEXT', 'some words '.repeat(6_000)))
  })
})

/** The request of a recording, with every text made as long as in long conversations. */
function lengthened(value: unknown, name = ''): unknown {
  if (typeof value === 'string')
    return name === 'content' || name === 'text' ? `${value} ${'more words '.repeat(7_000)}` : value
  if (Array.isArray(value)) return value.map((each) => lengthened(each))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, lengthened(each, key)]))
}

test('recorded requests, as they are and with long texts', async () => {
  const seen = new Set<string>()
  let outlined = 0
  for (const entry of swept(listCases({ api: 'chat' }), ({ id }) => id)) {
    const { requestJson } = loadCase(entry)
    if (!isObject(requestJson)) continue
    const text = JSON.stringify(requestJson)
    if (seen.has(text)) continue
    seen.add(text)
    await expectSame(text)
    if (await expectSame(JSON.stringify(lengthened(requestJson)))) outlined++
  }
  expect(outlined).toBeGreaterThan(seen.size / 4)
})

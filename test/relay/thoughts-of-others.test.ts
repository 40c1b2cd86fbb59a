// Reasoning state in requests to a service that uses the caller's dialect: what is sent, and what is reported as
// dropped.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeSeal } from '../../server/dialects/wire/thought-signature.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { type Behaviour, behaviour, status } from '../helpers/fake-upstream.ts'
import { messagesFake } from '../matrix/support/fakes/anthropic.ts'
import { geminiFake } from '../matrix/support/fakes/google.ts'
import { says } from '../matrix/support/fakes/index.ts'
import { responsesFake } from '../matrix/support/fakes/openai.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  const ratios =
    '{"m":1,"claude-sonnet-4-5":1,"gpt-5.1":1,"gemini-3-pro-preview":1,"gemini-2.5-pro":1,"gemini-flash-latest":1,"deepseek-chat":1}'
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0', StrictTranslationEnabled: 'false' }))

const said = { thought: '', text: 'Fine.', calls: [] }
const seal = (from: 'anthropic-messages' | 'openai-responses' | 'gemini', to: typeof from) =>
  // The reasoning state of the service `from`, in the envelope in which the gateway sends it to callers of `to`.
  from === to
    ? Buffer.from(JSON.stringify({ tollgate: 1, from, of: 'thought', value: 'own-state' })).toString('base64')
    : writeSeal({ from, value: 'foreign-state' }, to)
const cut = (text: string) => text.slice(0, -7)

interface Sent {
  status: number
  dropped: string | null
  fields: JsonObject
  text: string
}

async function send(type: number, model: string, path: string, body: JsonObject | string): Promise<Sent> {
  await rig.channel({ type, models: model })
  const fake = type === 24 ? geminiFake : type === 1 ? responsesFake : messagesFake
  rig.upstream.always(says(fake, said))
  const caller = await rig.caller()
  const response = await rig.gateway.post(path, body, caller.token)
  await response.text()
  const { fields, text } = rig.upstream.last
  return { status: response.status, dropped: response.headers.get('x-tollgate-dropped'), fields, text }
}

describe('a caller of the Messages API at Anthropic', () => {
  const model = 'claude-sonnet-4-5'
  const ask = (content: JsonObject[], rest: JsonObject = {}, at: number = 14, asked = model) =>
    send(at, asked, '/v1/messages', {
      model: asked,
      max_tokens: 4000,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
        { role: 'user', content: 'And now?' },
      ],
      ...rest,
    })
  const text = { type: 'text', text: 'Hello' }
  const contentOf = ({ fields }: Sent) => (fields['messages'] as JsonObject[])[1]?.['content']

  const foreign: [string, JsonObject][] = [
    [
      'in an envelope from the Responses API',
      { type: 'thinking', thinking: 'Hm', signature: seal('openai-responses', 'anthropic-messages') },
    ],
    ['in an envelope from Gemini', { type: 'redacted_thinking', data: seal('gemini', 'anthropic-messages') }],
    [
      'in a truncated envelope',
      { type: 'thinking', thinking: 'Hm', signature: cut(seal('gemini', 'anthropic-messages')) },
    ],
    ['with an empty signature', { type: 'thinking', thinking: 'Hm', signature: '' }],
    ['without a signature', { type: 'thinking', thinking: 'Hm' }],
    ['with null as its signature', { type: 'thinking', thinking: 'Hm', signature: null }],
    ['that is redacted and empty', { type: 'redacted_thinking', data: '' }],
  ]
  test.each(foreign)('a thought %s is not passed on, and is reported as dropped', async (_name, thought) => {
    const sent = await ask([thought, text])
    expect(sent.status).toBe(200)
    expect(contentOf(sent)).toEqual([text])
    expect(sent.dropped).toBe('messages.thinking')
  })

  test('reasoning that comes from Anthropic is passed on byte for byte', async () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 'EqQBCgIYAhIM' }
    const hidden = { type: 'redacted_thinking', data: 'EmwKAhgBEgy3' }
    const body = `{ "model" : "${model}","max_tokens":4000,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":${JSON.stringify([thought, hidden, text])}},{"role":"user","content":"caf\\u00e9"}]}`
    const sent = await send(14, model, '/v1/messages', body)
    expect(sent.text).toBe(body)
    expect(sent.dropped).toBe(null)
  })

  test('a signature in the gateway’s envelope is sent without the envelope to the service that made it', async () => {
    const own = { type: 'thinking', thinking: 'Hm', signature: seal('anthropic-messages', 'anthropic-messages') }
    const sent = await ask([own, text])
    expect(contentOf(sent)).toEqual([{ ...own, signature: 'own-state' }, text])
    expect(sent.dropped).toBe(null)
  })

  test('a turn that would be empty is dropped', async () => {
    const sent = await ask([{ type: 'thinking', thinking: 'Hm', signature: '' }])
    expect((sent.fields['messages'] as JsonObject[]).map(({ role }) => role)).toEqual(['user', 'user'])
  })

  test('thinking stays off in a tool loop that another service began, even if the caller sets a budget', async () => {
    const use = { type: 'tool_use', id: 'a', name: 'look', input: {} }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'blue' }] }
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    const loop = (content: JsonObject[], rest: JsonObject = {}) =>
      ask(content, {
        thinking,
        messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content }, result],
        ...rest,
      })
    const foreignThought = { type: 'thinking', thinking: 'Hm', signature: '' }
    const sent = await loop([foreignThought, use], {
      context_management: {
        edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }],
      },
    })
    expect(sent.fields['thinking']).toEqual({ type: 'disabled' })
    expect(sent.fields['context_management']).toEqual({ edits: [{ type: 'clear_tool_uses_20250919' }] })
    expect(sent.dropped).toBe('messages.thinking, thinking')
    await rig.clear()
    const unthought = await loop([use])
    expect(unthought.fields['thinking']).toEqual({ type: 'disabled' })
    expect(unthought.dropped).toBe('thinking')
    await rig.clear()
    const own = await loop([{ type: 'thinking', thinking: 'Hm', signature: 'EqQB' }, use])
    expect(own.fields['thinking']).toEqual(thinking)
    expect(own.dropped).toBe(null)
    await rig.clear()
    // Only the first turn of a tool loop must begin with reasoning.
    const later = await ask([], {
      thinking,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'EqQB' }, use] },
        result,
        { role: 'assistant', content: [use] },
        result,
      ],
    })
    expect(later.fields['thinking']).toEqual(thinking)
  })

  test('unsigned reasoning is passed on if the model’s vendor does not sign reasoning', async () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: '' }
    for (const [type, asked] of [
      [36, 'm'],
      [14, 'deepseek-chat'],
    ] as const) {
      await rig.clear()
      const sent = await ask([thought, text], {}, type, asked)
      expect(contentOf(sent)).toEqual([thought, text])
      await rig.clear()
      const foreignOne = { ...thought, signature: seal('gemini', 'anthropic-messages') }
      expect(contentOf(await ask([foreignOne, text], {}, type, asked))).toEqual([text])
    }
  })

  test('reasoning that would be dropped is refused under strict translation', async () => {
    await rig.gateway.setOption('StrictTranslationEnabled', 'true')
    await rig.channel({ type: 14, models: model })
    const caller = await rig.caller()
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: '' }, text] },
      { role: 'user', content: 'And now?' },
    ]
    const seen = await see(rig.gateway.post('/v1/messages', { model, max_tokens: 10, messages }, caller.token))
    expect(seen.status).toBe(400)
    expect(seen.text).toContain('messages.thinking')
  })
})

describe('a caller of the Responses API at OpenAI', () => {
  const model = 'gpt-5.1'
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }
  const ask = (...items: JsonObject[]) =>
    send(1, model, '/v1/responses', {
      model,
      store: false,
      input: [{ role: 'user', content: 'Hi' }, ...items, said, { role: 'user', content: 'And now?' }],
    })
  const itemsOf = ({ fields }: Sent) => (fields['input'] as JsonObject[]).slice(1, -2)
  const thought = (rest: JsonObject) => ({ type: 'reasoning', summary: [], ...rest })
  const ours = 'rs_2026112710042984200092673811582_0'

  test.each([
    ['from Anthropic', thought({ id: ours, encrypted_content: seal('anthropic-messages', 'openai-responses') })],
    ['from Gemini', thought({ encrypted_content: seal('gemini', 'openai-responses') })],
    ['in a truncated envelope', thought({ encrypted_content: cut(seal('gemini', 'openai-responses')) })],
    [
      'that the gateway wrote and that has no content',
      thought({ id: ours, summary: [{ type: 'summary_text', text: 'Hm' }] }),
    ],
    ['without an id or content', thought({ encrypted_content: null, content: null })],
    ['referenced by an id of the gateway that is not stored', { type: 'item_reference', id: ours }],
  ])('reasoning %s is not passed on, and is reported as dropped', async (_name, item) => {
    const sent = await ask(item)
    expect(sent.status).toBe(200)
    expect(itemsOf(sent)).toEqual([])
    expect(sent.dropped).toBe('input.reasoning')
  })

  test('reasoning state that OpenAI made or stores is passed on', async () => {
    const kept = [
      thought({ id: 'rs_0123', encrypted_content: 'gAAAAAB' }),
      thought({ id: 'rs_0123456789' }),
      { type: 'item_reference', id: 'rs_0123456789' },
    ]
    const sent = await ask(...kept)
    expect(itemsOf(sent)).toEqual(kept)
    expect(sent.dropped).toBe(null)
    await rig.clear()
    const own = thought({ encrypted_content: seal('openai-responses', 'openai-responses') })
    expect(itemsOf(await ask(own))).toEqual([{ ...own, encrypted_content: 'own-state' }])
  })
})

describe('a caller of Gemini at Google', () => {
  const ask = (parts: JsonObject[], model = 'gemini-3-pro-preview') =>
    send(24, model, `/v1beta/models/${model}:generateContent`, {
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts },
        { role: 'user', parts: [{ text: 'And now?' }] },
      ],
    })
  const partsOf = ({ fields }: Sent) => (fields['contents'] as JsonObject[])[1]?.['parts']
  const functionCall = { name: 'look', args: {} }
  const foreign = seal('anthropic-messages', 'gemini')
  const dummy = 'skip_thought_signature_validator'

  test.each<[string, JsonObject[], JsonObject[], string | null]>([
    [
      'a foreign signature on a text',
      [{ text: 'Hello', thoughtSignature: foreign }],
      [{ text: 'Hello' }],
      'contents.parts.thoughtSignature',
    ],
    [
      'a foreign signature on a text, in snake case,',
      [{ text: 'Hello', thought_signature: foreign }],
      [{ text: 'Hello' }],
      'contents.parts.thoughtSignature',
    ],
    [
      'a foreign thought',
      [{ text: 'Hm', thought: true, thoughtSignature: foreign }, { text: 'Hello' }],
      [{ text: 'Hello' }],
      'contents.thought',
    ],
    [
      'a foreign signature on an empty text',
      [{ text: 'Hello' }, { text: '', thoughtSignature: foreign }],
      [{ text: 'Hello' }],
      'contents.parts.thoughtSignature',
    ],
    [
      'a foreign signature on a call',
      [{ functionCall, thoughtSignature: foreign }],
      [{ functionCall, thoughtSignature: dummy }],
      'contents.parts.thoughtSignature',
    ],
    ['an empty signature', [{ text: 'Hello', thoughtSignature: '' }], [{ text: 'Hello' }], null],
    [
      'unsigned calls',
      [{ functionCall }, { functionCall }],
      [{ functionCall, thoughtSignature: dummy }, { functionCall }],
      null,
    ],
    [
      'content signed by Google',
      [{ functionCall, thoughtSignature: 'CiQB' }, { functionCall }, { text: 'x', thoughtSignature: 'CiQC' }],
      [{ functionCall, thoughtSignature: 'CiQB' }, { functionCall }, { text: 'x', thoughtSignature: 'CiQC' }],
      null,
    ],
    [
      'Google’s own placeholder',
      [{ functionCall, thoughtSignature: dummy }],
      [{ functionCall, thoughtSignature: dummy }],
      null,
    ],
  ])('%s is sent in the format that Google accepts', async (_name, parts, expected, dropped) => {
    const sent = await ask(parts)
    expect(sent.status).toBe(200)
    expect(partsOf(sent)).toEqual(expected)
    expect(sent.dropped).toBe(dropped)
  })

  test('calls without a signature are left unchanged unless the model requires signatures', async () => {
    expect(partsOf(await ask([{ functionCall }], 'gemini-2.5-pro'))).toEqual([{ functionCall }])
    await rig.clear()
    // This name always refers to the newest model, so the version number is unknown.
    const latest = await ask([{ functionCall }], 'gemini-flash-latest')
    expect(partsOf(latest)).toEqual([{ functionCall, thoughtSignature: dummy }])
  })
})

describe('reasoning state that has the form of the service’s own state, but that the service refuses', () => {
  const refusals: [string, number, string, string, number, JsonObject, JsonObject, string][] = [
    [
      'Anthropic',
      14,
      '/v1/messages',
      'claude-sonnet-4-5',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
        },
      },
      {
        max_tokens: 10,
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: 'EqQBother' },
              { type: 'text', text: 'Hello' },
            ],
          },
          { role: 'user', content: 'And now?' },
        ],
      },
      'messages.thinking',
    ],
    [
      'OpenAI',
      1,
      '/v1/responses',
      'gpt-5.1',
      400,
      {
        error: {
          message: 'The encrypted content gAAA... could not be verified.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_encrypted_content',
        },
      },
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'reasoning', id: 'rs_other', summary: [], encrypted_content: 'gAAAother' },
          { type: 'message', id: 'msg_other', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
          { role: 'user', content: 'And now?' },
        ],
      },
      'input.reasoning',
    ],
    [
      'Google',
      24,
      '/v1beta/models/gemini-3-pro-preview:generateContent',
      'gemini-3-pro-preview',
      400,
      { error: { code: 400, message: 'Thought signature is not valid.', status: 'INVALID_ARGUMENT' } },
      {
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: [{ text: 'Hello', thoughtSignature: 'CiQBother' }] },
          { role: 'user', parts: [{ text: 'And now?' }] },
        ],
      },
      'contents.parts.thoughtSignature',
    ],
  ]
  test.each(refusals)(
    'is dropped, and %s is called once more',
    async (_name, type, path, model, code, refusal, fields, name) => {
      await rig.channel({ type, models: model })
      const fake = type === 24 ? geminiFake : type === 1 ? responsesFake : messagesFake
      const refuses: Behaviour = behaviour('refuses', (exchange) => sendJson(exchange, code, refusal))
      rig.upstream.next(refuses)
      rig.upstream.always(says(fake, said))
      const caller = await rig.caller()
      const response = await rig.gateway.post(path, { model, ...fields }, caller.token)
      expect(response.status).toBe(200)
      await response.text()
      expect(response.headers.get('x-tollgate-dropped')).toBe(name)
      expect(rig.upstream.requests).toHaveLength(2)
      expect(rig.upstream.last.text).not.toContain('other')
    },
  )

  test('is dropped only once: if the service refuses again, there is no third attempt', async () => {
    const [, type = 0, path = '', model = '', code = 0, refusal, fields] = refusals[0] ?? []
    await rig.channel({ type, models: model })
    rig.upstream.always(behaviour('refuses', (exchange) => sendJson(exchange, code, refusal)))
    const caller = await rig.caller()
    const seen = await see(rig.gateway.post(path, { model, ...fields }, caller.token))
    expect(seen.status).toBe(400)
    expect(rig.upstream.requests).toHaveLength(2)
  })

  test('is needed for a second attempt: a refused conversation without reasoning state is not sent again', async () => {
    const [, type = 0, path = '', model = '', code = 0, refusal] = refusals[0] ?? []
    await rig.channel({ type, models: model })
    rig.upstream.always(behaviour('refuses', (exchange) => sendJson(exchange, code, refusal)))
    const caller = await rig.caller()
    const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
    await see(rig.gateway.post(path, body, caller.token))
    expect(rig.upstream.requests).toHaveLength(1)
  })
})

test('when a call is retried, each channel gets only the reasoning of its own service', async () => {
  await rig.clear({ RetryTimes: '1' })
  await rig.channel({ type: 14, key: 'first', priority: 9 })
  await rig.channel({ type: 24, key: 'second', priority: 1 })
  rig.upstream.forKey('first', status(503))
  rig.upstream.forKey('second', says(geminiFake, said))
  const caller = await rig.caller()
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'EqQBown' },
        {
          type: 'redacted_thinking',
          data: writeSeal({ from: 'gemini', value: 'CiQBown' }, 'anthropic-messages', 'next'),
        },
        { type: 'text', text: 'Hello' },
      ],
    },
    { role: 'user', content: 'And now?' },
  ]
  const seen = await see(rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 10, messages }, caller.token))
  expect(seen.status).toBe(200)
  const [first = {}, second = {}] = rig.upstream.requests.map(({ fields }) => fields)
  expect((first['messages'] as JsonObject[])[1]?.['content']).toEqual([
    { type: 'thinking', thinking: 'Hm', signature: 'EqQBown' },
    { type: 'text', text: 'Hello' },
  ])
  expect((second['contents'] as JsonObject[])[1]?.['parts']).toEqual([{ text: 'Hello', thoughtSignature: 'CiQBown' }])
})

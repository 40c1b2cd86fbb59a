import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { charged, chat, expectError, type Rig, type Seen, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.channel({
    models: 'm,dall-e-2,dall-e-3,gpt-image-1,tts-1,whisper-1,text-embedding-3-small,omni-moderation-latest',
  })
})
afterAll(() => rig[Symbol.asyncDispose]())

async function call(path: string, body: unknown, init: RequestInit = {}): Promise<Seen> {
  const caller = await rig.caller()
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const seen = await see(rig.gateway.post(path, '', caller.token, { body: text, ...init } as RequestInit))
  if (seen.status !== 200) expect(await charged(rig, caller, 0)).toEqual([])
  return seen
}

const chatPath = '/v1/chat/completions'

describe('a body that is not a JSON object, or is nested too deeply, is refused:', () => {
  const bodies: Record<string, string | Uint8Array> = {
    nothing: '',
    'a truncated object': '{"model":"m","messages":[',
    'a trailing comma': '{"model":"m",}',
    'text after the object': '{"model":"m"} x',
    'a list': '[{"model":"m"}]',
    'a text': '"m"',
    'a number': '1',
    null: 'null',
    'a form': 'model=m&messages=Hi',
    'invalid UTF-8': Buffer.concat([Buffer.from('{"model":"m","x":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    'truncated UTF-8': Buffer.concat([Buffer.from('{"model":"m","x":"'), Buffer.from([0xe6, 0x9d])]),
    'UTF-16': Buffer.from('{"model":"m"}', 'utf16le'),
    NaN: '{"model":"m","temperature":NaN}',
  }
  for (const [name, body] of Object.entries(bodies)) {
    test(name, async () => expectError(await call(chatPath, body), 400, 'invalid_json'))
  }

  const chatWith = (fields: string) => `{"model":"m","messages":[{"role":"user","content":"Hi"}],${fields}}`
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  test.each(['tools', 'x', 'response_format', 'metadata'])(
    'with %s nested 201 levels deep → 400 request_too_complex',
    async (name) => {
      const seen = await call(chatPath, chatWith(`"${name}":${nested(200)}`))
      expectError(seen, 400, 'request_too_complex')
      expect(seen.error?.message).toContain('at most 200 levels')
    },
  )
})

test('a body that is compressed twice is refused without being decompressed', async () => {
  const compressed = gzipSync(Buffer.from(JSON.stringify(chat)))
  const encoded = { headers: { 'content-encoding': 'gzip, gzip' } }
  expectError(await call(chatPath, gzipSync(compressed), encoded), 415, 'unsupported_media_type')
})

describe('a field of the wrong type or size is named in the error:', () => {
  const long = 'x'.repeat(257)
  const cases: readonly (readonly [path: string, body: object, code: string, param: string])[] = [
    [chatPath, { messages: chat.messages }, 'required_field_missing', 'model'],
    [chatPath, { ...chat, model: '' }, 'required_field_missing', 'model'],
    [chatPath, { ...chat, model: null }, 'required_field_missing', 'model'],
    [chatPath, { ...chat, model: 1 }, 'invalid_field_value', 'model'],
    [chatPath, { ...chat, model: ['m'] }, 'invalid_field_value', 'model'],
    [chatPath, { ...chat, model: long }, 'invalid_field_value', 'model'],
    [chatPath, { model: 'm' }, 'required_field_missing', 'messages'],
    [chatPath, { model: 'm', messages: [] }, 'required_field_missing', 'messages'],
    [chatPath, { model: 'm', messages: 'Hi' }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: { role: 'user' } }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: ['Hi'] }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: [null] }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: [{ content: 'Hi' }] }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: [{ role: 'user', content: 5 }] }, 'invalid_field_value', 'messages'],
    [chatPath, { model: 'm', messages: [{ role: 'user', content: ['Hi'] }] }, 'invalid_field_value', 'messages'],
    [chatPath, { ...chat, stream: 'yes' }, 'invalid_field_value', 'stream'],
    [chatPath, { ...chat, stream: 1 }, 'invalid_field_value', 'stream'],
    [chatPath, { ...chat, max_tokens: -1 }, 'invalid_field_value', 'max_tokens'],
    [chatPath, { ...chat, max_tokens: 2 ** 30 }, 'invalid_field_value', 'max_tokens'],
    [chatPath, { ...chat, max_tokens: 1e300 }, 'invalid_field_value', 'max_tokens'],
    [chatPath, { ...chat, max_tokens: 1.5 }, 'invalid_field_value', 'max_tokens'],
    [chatPath, { ...chat, max_tokens: '10' }, 'invalid_field_value', 'max_tokens'],
    [chatPath, { ...chat, max_completion_tokens: -5 }, 'invalid_field_value', 'max_completion_tokens'],
    [chatPath, { ...chat, max_tokens: 5, max_completion_tokens: {} }, 'invalid_field_value', 'max_completion_tokens'],
    [chatPath, { ...chat, n: 0 }, 'invalid_field_value', 'n'],
    [chatPath, { ...chat, n: -1 }, 'invalid_field_value', 'n'],
    [chatPath, { ...chat, n: 129 }, 'invalid_field_value', 'n'],
    [chatPath, { ...chat, n: 1.5 }, 'invalid_field_value', 'n'],
    [chatPath, { ...chat, n: '2' }, 'invalid_field_value', 'n'],
    ['/v1/responses', { model: long, input: 'Hi' }, 'invalid_field_value', 'model'],
    ['/v1/completions', { model: 'm' }, 'required_field_missing', 'prompt'],
    ['/v1/completions', { model: 'm', prompt: {} }, 'invalid_field_value', 'prompt'],
    ['/v1/completions', { model: 'm', prompt: [true] }, 'invalid_field_value', 'prompt'],
    ['/v1/completions', { model: 'm', prompt: 'Hi', best_of: 1000 }, 'invalid_field_value', 'best_of'],
    ['/v1/embeddings', { model: 'text-embedding-3-small' }, 'required_field_missing', 'input'],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 5 }, 'invalid_field_value', 'input'],
    ['/v1/moderations', { model: 'omni-moderation-latest', input: [] }, 'required_field_missing', 'input'],
    ['/v1/audio/speech', { model: 'tts-1', voice: 'alloy' }, 'required_field_missing', 'input'],
    ['/v1/audio/speech', { model: 'tts-1', input: ['Hi'] }, 'invalid_field_value', 'input'],
    ['/v1/images/generations', { model: 'dall-e-3' }, 'prompt_missing', 'prompt'],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 5 }, 'invalid_field_value', 'prompt'],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 'x', size: '1x1' }, 'size_not_supported', 'size'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: 11 }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: 0 }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: 'many' }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: { toString: 1 } }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: true }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x', n: [2] }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 'x', size: ['1024x1792'] }, 'invalid_field_value', 'size'],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 'x', quality: {} }, 'invalid_field_value', 'quality'],
    ['/v1/images/edits', { model: 'gpt-image-1', prompt: 'x', n: { valueOf: 1 } }, 'n_not_within_range', 'n'],
    ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x'.repeat(1001) }, 'prompt_too_long', 'prompt'],
  ]
  for (const [path, body, code, param] of cases) {
    test(`${path} ${JSON.stringify(body).slice(0, 90)} → 400 ${code}`, async () => {
      const seen = await call(path, body)
      expectError(seen, 400, code)
      expect(seen.error).toMatchObject({ param, type: 'invalid_request_error' })
    })
  }

  test('none of these requests reaches the upstream', () => {
    expect(rig.upstream.requests.filter(({ text }) => text.length < 100_000)).toEqual([])
  })
})

describe('a duplicate model field is refused, even if its name is written with escapes:', () => {
  const rest = '"messages":[{"role":"user","content":"Hi"}]'
  const twice = [
    `{"model":"m",${rest},"model":"m"}`,
    `{"model":"m",${rest},"mod\\u0065l":"dearer"}`,
    `{"\\u006d\\u006f\\u0064\\u0065\\u006c":"dearer",${rest},"model":"m"}`,
    `{"\\u006Dodel":"dearer",${rest},"mode\\u006C":"m"}`,
    `{"model":"m","x":{"model":"inner"},${rest} , "model" :"m"}`,
  ]
  for (const text of twice) {
    test(text, async () => {
      const seen = await call(chatPath, text)
      expectError(seen, 400, 'invalid_field_value')
      expect(seen.error).toMatchObject({ param: 'model' })
    })
  }

  test('duplicates of fields that determine the price of images are refused', async () => {
    for (const [field, first, second] of [
      ['n', 10, 1],
      ['size', '"1024x1024"', '"256x256"'],
      ['quality', '"hd"', '"standard"'],
    ] as const) {
      const text = `{"model":"dall-e-2","prompt":"x","${field}":${first},"${field}":${second}}`
      const seen = await call('/v1/images/generations', text)
      expectError(seen, 400, 'invalid_field_value')
      expect(seen.error).toMatchObject({ param: field })
    }
  })

  test('duplicates of fields that determine the price of speech are refused', async () => {
    const text = '{"model":"tts-1","voice":"alloy","input":"a long text","input":"x"}'
    const seen = await call('/v1/audio/speech', text)
    expectError(seen, 400, 'invalid_field_value')
    expect(seen.error).toMatchObject({ param: 'input' })
  })

  test('a field name in different letter case, which some parsers accept, is refused', async () => {
    for (const [to, fields, second] of [
      ['/v1/audio/speech', '"model":"tts-1","voice":"alloy","input":"x"', 'Input'],
      ['/v1/images/generations', '"model":"dall-e-2","prompt":"x","size":"256x256"', 'Size'],
      ['/v1/images/generations', '"model":"dall-e-2","prompt":"x"', 'QUALITY'],
    ] as const) {
      const seen = await call(to, `{${fields},"${second}":"hd"}`)
      expectError(seen, 400, 'invalid_field_value')
      expect(seen.error).toMatchObject({ param: second })
    }
  })

  test('the word "model" may also occur in a nested object or in a string', async () => {
    const text = `{"model":"m",${rest},"x":{"model":"inner"},"y":"\\"model\\":1","z":"model"}`
    expect((await call(chatPath, text)).status).toBe(200)
  })
})

describe('alternative models, which would bypass the model that is checked and charged, are refused:', () => {
  const { model: _, ...rest } = chat
  for (const [path, fields] of [
    ['/v1/embeddings', { model: 'm', input: 'Hi', models: ['a-dear-one'] }],
    ['/v1/chat/completions', { ...chat, Models: ['a-dear-one'] }],
    ['/v1/chat/completions', { ...chat, context_window_fallbacks: [{ m: ['a-dear-one'] }] }],
    ['/v1/chat/completions', { ...chat, content_policy_fallbacks: [{ m: ['a-dear-one'] }] }],
    ['/v1/messages', { ...chat, max_tokens: 5, fallbacks: [{ model: 'a-dear-one' }] }],
    ['/v1/responses', { model: 'm', input: 'Hi', models: { first: 'a-dear-one' } }],
  ] as const) {
    test(`${Object.keys(fields).at(-1)} at ${path}`, async () => {
      const caller = await rig.caller()
      const before = rig.upstream.requests.length
      const seen = await see(rig.gateway.post(path, fields, caller.token))
      expect(seen.status).toBe(400)
      expect(seen.text).toMatch(
        /lists models other than the one|must be written models|must be a list of the names of models/,
      )
      expect(rig.upstream.requests.length).toBe(before)
      await charged(rig, caller, 0)
    })
  }

  test('a list of alternative models is refused even if a second field with the same name has an empty list', async () => {
    const caller = await rig.caller()
    const text = `{"models":["a-dear-one"],"models":[],"model":"m",${JSON.stringify(rest).slice(1)}`
    expectError(await see(rig.gateway.post('/v1/chat/completions', text, caller.token)), 400, 'invalid_field_value')
  })

  test('an empty list of alternative models is accepted', async () => {
    const caller = await rig.caller()
    const seen = await see(rig.gateway.post('/v1/chat/completions', { ...chat, models: [] }, caller.token))
    expect(seen.status).toBe(200)
  })
})

describe('unusual but valid requests are accepted:', () => {
  const fine: readonly (readonly [string, unknown])[] = [
    ['max_tokens 0 means no limit', { ...chat, max_tokens: 0 }],
    ['null in optional fields', { ...chat, max_tokens: null, n: null, stream: null, stream_options: null }],
    [
      'an assistant message without content',
      { model: 'm', messages: [...chat.messages, { role: 'assistant', content: null }] },
    ],
    ['a byte order mark', `\ufeff${JSON.stringify(chat)}`],
    ['whitespace around the object', ` \r\n\t${JSON.stringify(chat)} \n`],
    [
      'a content part of an unknown type',
      { model: 'm', messages: [{ role: 'user', content: [{ type: { toString: 1 } }, { type: ['text'] }] }] },
    ],
  ]
  for (const [name, body] of fine) test(name, async () => expect((await call(chatPath, body)).status).toBe(200))

  test('a content encoding in unusual letter case', async () => {
    expect((await call(chatPath, chat, { headers: { 'content-encoding': 'Identity' } })).status).toBe(200)
  })

  test('a content type that is not JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const seen = await call(chatPath, chat, { headers: { 'content-type': type } })
      expect([type, seen.status]).toEqual([type, 200])
      expect(rig.upstream.last.headers.get('content-type')).toBe('application/json')
    }
  })
})

test('a line break in a channel’s URL or key does not add a header', async () => {
  const attack = '\r\nx-injected: 1\r\n\r\n'
  const fields = [{ base_url: `${rig.upstream.url}/${attack}` }, { key: `key-a${attack}` }]
  for (const [index, each] of fields.entries()) {
    const models = `injected-${index}`
    const made = await rig.channel({ models, model_mapping: JSON.stringify({ [models]: 'm' }), ...each }).catch(() => 0)
    if (made === 0) continue
    const before = rig.upstream.requests.length
    const seen = await call(chatPath, { ...chat, model: models })
    if (seen.status !== 200) expect(seen.error?.code).toBeString()
    for (const request of rig.upstream.requests.slice(before)) expect(request.headers.get('x-injected')).toBeNull()
  }
})

describe('line breaks and other control characters in a model name', () => {
  test('are sent to the upstream in JSON, and never in a header', async () => {
    const model = 'm\r\nx-injected: 1\r\n\r\n'
    await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
    await rig.channel({ type: 3, models: 'm3', model_mapping: JSON.stringify({ m3: model }) })
    await rig.channel({ models: 'm4', model_mapping: JSON.stringify({ m4: model }) })
    for (const name of ['m3', 'm4']) {
      const seen = await call(chatPath, { ...chat, model: name })
      expect(seen.status).toBe(200)
      expect(rig.upstream.last.headers.get('x-injected')).toBeNull()
      expect(rig.upstream.last.model).toBe(model)
      expect(seen.headers.get('x-injected')).toBeNull()
    }
    const unknown = await call(chatPath, { ...chat, model })
    expectError(unknown, 503, 'no_available_channel')
    expect(unknown.headers.get('x-injected')).toBeNull()
    await rig.gateway.setOption('UnpricedModelPolicy', 'refuse')
  })
})

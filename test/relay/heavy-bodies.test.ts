// The CPU time and memory that a body takes must be in proportion to its length, whatever it contains. So a body with
// too many parts or levels is refused before it is parsed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { charged, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  await rig.gateway.setOption('ModelRatio', '{"m":1,"c":1,"free":0,"rerank-1":1}')
  await rig.channel({ models: 'm,free,text-embedding-3-small,rerank-1,gpt-image-1' })
  await rig.channel({ type: 14, models: 'c' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const mebibyte = 1024 * 1024
const said = '"messages":[{"role":"user","content":"Hi"}]'
const chatPath = '/v1/chat/completions'
const list = (count: number, item: (index: number) => string) =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(',')}]`

/** Every kind of call, with a request to which fields can be added. */
const calls: [path: string, members: string][] = [
  [chatPath, `"model":"m",${said}`],
  ['/v1/completions', '"model":"m","prompt":"Hi"'],
  ['/v1/embeddings', '"model":"text-embedding-3-small","input":"Hi"'],
  ['/v1/moderations', '"model":"m","input":"Hi"'],
  ['/v1/rerank', '"model":"rerank-1","query":"q","documents":["a"]'],
  ['/v1/images/generations', '"model":"gpt-image-1","prompt":"Hi"'],
  ['/v1/audio/speech', '"model":"m","input":"Hi","voice":"alloy"'],
  ['/v1/responses', '"model":"m","input":"Hi"'],
  ['/v1/messages', `"model":"c","max_tokens":9,${said}`],
  ['/v1/messages/count_tokens', `"model":"c",${said}`],
  ['/v1beta/models/m:generateContent', '"contents":[{"parts":[{"text":"Hi"}]}]'],
  ['/v1beta/models/m:countTokens', '"contents":[{"parts":[{"text":"Hi"}]}]'],
  ['/v1beta/models/text-embedding-3-small:embedContent', '"content":{"parts":[{"text":"Hi"}]}'],
]

describe.each(calls)(
  '%s with a body above a limit is refused before it is parsed, and nothing is sent to the upstream:',
  (path, members) => {
    test.each<[what: string, words: string, value: () => string]>([
      ['too many numbers', 'too many values: at most 500000', () => list(600_000, () => '0')],
      ['too many lists', 'too many arrays and objects: at most 100000', () => list(100_001, () => '[]')],
      ['too many objects', 'too many arrays and objects: at most 100000', () => list(100_001, () => '{"a":1}')],
      [
        'too many names',
        'too many different member names: at most 5000',
        () => `{${list(8_000, (index) => `"a name ${index}":"some value"`).slice(1, -1)}}`,
      ],
      ['too many levels of nesting', 'nested too deeply: at most 200 levels', () => '['.repeat(mebibyte)],
    ])('%s', async (_, words, value) => {
      const caller = await rig.caller()
      const before = rig.upstream.requests.length
      // The end of the body is invalid JSON, so a parser would report a different error.
      const seen = await see(rig.gateway.post(path, '', caller.token, { body: `{${members},"x":${value()},` }))
      expect(seen.status).toBe(400)
      expect(seen.text).toContain(words)
      expect(rig.upstream.requests.length).toBe(before)
      expect(await charged(rig, caller, 0)).toEqual([])
    })
  },
)

test('long bodies within the limits are passed on byte for byte', async () => {
  const caller = await rig.caller({ user: 1_000_000_000, token: 1_000_000_000 })
  const bodies: [path: string, body: string][] = [
    [chatPath, `{"model":"m","messages":${list(99_000, () => '{"role":"user","content":"x"}')}}`],
    [
      chatPath,
      `{"model":"m",${said},"tools":${list(30_000, (at) => `{"type":"function","function":{"name":"f${at}"}}`)}}`,
    ],
    [chatPath, `{"model":"m",${said},"x":"${'é"\\\\'.replace('"', '\\"').repeat(mebibyte)}"}`],
    ['/v1/embeddings', `{"model":"text-embedding-3-small","input":${list(200_000, () => '"a"')}}`],
    ['/v1/rerank', `{"model":"rerank-1","query":"q","documents":${list(100_000, () => '"a"')}}`],
  ]
  for (const [path, body] of bodies) {
    await see(rig.gateway.post(path, '', caller.token, { body }))
    expect([path, rig.upstream.requests.at(-1)?.text === body]).toEqual([path, true])
  }
})

describe('a body with many parts', () => {
  const parts = (count: number) => list(count, (at) => `{"role":"${at % 2 ? 'assistant' : 'user'}","content":"x"}`)
  const contents = (count: number) =>
    list(count, (at) => `{"role":"${at % 2 ? 'model' : 'user'}","parts":[{"text":"x"}]}`)
  const plenty = { user: 1_000_000_000, token: 1_000_000_000 }

  test.each([
    ['/v1/messages', `{"model":"c","max_tokens":9,"messages":${parts(60_000)}}`],
    ['/v1/responses', `{"model":"m","input":${parts(60_000)}}`],
  ])('is passed on byte for byte if the channel uses the same dialect: %s', async (path, body) => {
    const caller = await rig.caller(plenty)
    await see(rig.gateway.post(path, '', caller.token, { body }))
    expect(rig.upstream.requests.at(-1)?.text === body).toBe(true)
  })

  test.each([
    ['/v1/messages', `{"model":"m","max_tokens":9,"messages":${parts(21_000)}}`],
    [chatPath, `{"model":"c","messages":${parts(21_000)}}`],
    ['/v1beta/models/m:generateContent', `{"contents":${contents(7_000)}}`],
  ])('is refused with an error that names the limit, if it would have to be translated: %s', async (path, body) => {
    const caller = await rig.caller(plenty)
    const before = rig.upstream.requests.length
    const seen = await see(rig.gateway.post(path, '', caller.token, { body }))
    expect([seen.status, seen.text]).toEqual([400, expect.stringContaining('the limit is 20000')])
    expect(rig.upstream.requests.length).toBe(before)
    expect(await charged(rig, caller, 0, plenty.user)).toEqual([])
  })

  test('is translated if it is within the limit', async () => {
    const caller = await rig.caller(plenty)
    const seen = await see(
      rig.gateway.post('/v1/messages', '', caller.token, {
        body: `{"model":"m","max_tokens":9,"messages":${parts(19_000)}}`,
      }),
    )
    expect(seen.status).toBe(200)
  })
})

describe('JSON text in a string of a request (parsed by the gateway if the upstream needs an object instead)', () => {
  const call = (id: number, input: string) =>
    `{"role":"assistant","tool_calls":[{"id":"c${id}","type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}]},{"role":"tool","tool_call_id":"c${id}","content":"ok"}`
  const withCalls = (...inputs: string[]) =>
    `{"model":"c","messages":[{"role":"user","content":"Hi"},${inputs.map((input, at) => call(at, input)).join(',')}]}`
  const names = (count: number, prefix: string) => `{${list(count, (at) => `"${prefix}${at}":0`).slice(1, -1)}}`

  test.each<[what: string, inputs: string[], words: string]>([
    ['lists in one input', [`{"x":${list(30_000, () => '[]')}}`], 'too many arrays and objects'],
    ['lists in many inputs', Array.from({ length: 30 }, () => `{"x":${list(1_000, () => '[]')}}`), 'too many arrays'],
    [
      'names in many inputs',
      Array.from({ length: 20 }, (_, at) => names(400, `n${at}_`)),
      'too many different member names',
    ],
    ['lists after a quote that is never closed', ['"', `{"x":${list(30_000, () => '[]')}}`], 'too many arrays'],
    ['levels', [`{"x":${'['.repeat(90_000)}`], 'nested too deeply'],
  ])('is refused with too many %s', async (_, inputs, words) => {
    const caller = await rig.caller()
    const seen = await see(rig.gateway.post(chatPath, '', caller.token, { body: withCalls(...inputs) }))
    expectError(seen, 400, 'request_too_complex')
    expect(seen.error?.message).toContain(words)
  })

  test('is passed on unchecked if the upstream accepts the string', async () => {
    const caller = await rig.caller({ user: 1_000_000_000, token: 1_000_000_000 })
    const body = withCalls(`{"x":${list(30_000, () => '[]')}}`).replace('"model":"c"', '"model":"m"')
    expect((await see(rig.gateway.post(chatPath, '', caller.token, { body }))).status).toBe(200)
  })

  test('is parsed as a thought signature made by the gateway only if it consists of a few strings', async () => {
    const caller = await rig.caller({ user: 1_000_000_000, token: 1_000_000_000 })
    const inside = `{"tollgate":1,"from":"gemini","value":"v","x":${list(200_000, () => '[]')}}`
    const signature = Buffer.from(inside).toString('base64')
    const content = [
      { type: 'thinking', thinking: 'Hm', signature },
      { type: 'text', text: 'Hi' },
    ]
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      { role: 'user', content: 'Go on' },
    ]
    expect(
      (await see(rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 9, messages }, caller.token))).status,
    ).toBe(200)
    expect(rig.upstream.requests.at(-1)?.text).not.toContain(signature.slice(0, 40))
  })
})

test('200 levels of lists and objects are not too many', async () => {
  const caller = await rig.caller()
  const body = `{"model":"m",${said},"x":${'['.repeat(199)}${']'.repeat(199)}}`
  expect((await see(rig.gateway.post(chatPath, '', caller.token, { body }))).status).toBe(200)
})

describe('a long body is read in steps', () => {
  const given = () => rig.gateway.context.relay.relay.turns.count

  test.each([1, 4, 16])('of two mebibytes each: %d MiB', async (size) => {
    const caller = await rig.caller()
    const before = given()
    await see(rig.gateway.post(chatPath, '', caller.token, { body: `{"x":${' '.repeat(size * mebibyte)}` }))
    expect(given() - before).toBe(Math.ceil((size * mebibyte + 5) / (2 * mebibyte)) + 2)
  })

  test('and a short body is read in one step', async () => {
    const caller = await rig.caller()
    const before = given()
    await see(
      rig.gateway.post(chatPath, '', caller.token, { body: `{"model":"m",${said},"x":"${'x'.repeat(100_000)}"}` }),
    )
    expect(given() - before).toBe(0)
  })
})

describe('a long body is not parsed if the caller is refused anyway:', () => {
  const broken = (model: string) => `{"x":"${'x'.repeat(mebibyte)}","model":"${model}" and no JSON`
  const post = (token: string, model = 'm') => see(rig.gateway.post(chatPath, '', token, { body: broken(model) }))

  test('because the token has no quota', async () => {
    expectError(await post((await rig.caller({ user: 100, token: 0 })).token), 401, 'token_exhausted')
  })

  test('because the account has no quota, however much its token has', async () => {
    expectError(await post((await rig.caller({ user: 0 })).token), 403, 'insufficient_user_quota')
    expectError(await post((await rig.caller({ user: 0, token: 100 })).token), 403, 'insufficient_user_quota')
  })

  test('because the token may not use the model', async () => {
    const caller = await rig.caller(undefined, { token: { models: 'other' } })
    expectError(await post(caller.token), 403, 'model_not_allowed')
  })

  test('a caller without quota may still use a model that costs nothing', async () => {
    expectError(await post((await rig.caller({ user: 0, token: 0 })).token, 'free'), 400, 'invalid_json')
  })

  test('a caller with quota gets the error that the body is invalid', async () => {
    expectError(await post((await rig.caller()).token), 400, 'invalid_json')
  })
})

describe('duplicates of a field that has an effect are refused:', () => {
  const twice: [path: string, body: string, place: string][] = [
    [chatPath, `{"model":"m",${said},"max_tokens":1,"max_tokens":900}`, 'max_tokens'],
    [chatPath, `{"model":"m",${said},"n":1,"n":8}`, 'n'],
    [chatPath, `{"model":"m",${said},"stream":true,"stream":false}`, 'stream'],
    [chatPath, `{"model":"m",${said},"stream":true,"str\\u0065am":false}`, 'stream'],
    [chatPath, `{"model":"m",${said},${said}}`, 'messages'],
    [
      chatPath,
      `{"model":"m",${said},"stream_options":{"include_usage":true,"include_usage":false}}`,
      'stream_options.include_usage',
    ],
    [chatPath, `{"model":"m",${said},"x":1,"x":2}`, 'x'],
    ['/v1/embeddings', '{"model":"text-embedding-3-small","input":"a","input":"b"}', 'input'],
    ['/v1/messages', `{"model":"c","max_tokens":1,"max_tokens":900,${said}}`, 'max_tokens'],
    [
      '/v1/messages',
      `{"model":"c","max_tokens":9,${said},"thinking":{"type":"enabled","budget_tokens":1024,"budget_tokens":9000}}`,
      'thinking.budget_tokens',
    ],
    ['/v1/responses', '{"model":"m","input":"a","max_output_tokens":1,"max_output_tokens":900}', 'max_output_tokens'],
    [
      '/v1beta/models/m:generateContent',
      '{"contents":[{"parts":[{"text":"Hi"}]}],"generationConfig":{"maxOutputTokens":1,"thinkingConfig":{"thinkingBudget":0,"thinkingBudget":9000}}}',
      'generationConfig.thinkingConfig.thinkingBudget',
    ],
  ]
  test.each(twice)('%s %s', async (path, body, place) => {
    const caller = await rig.caller()
    const before = rig.upstream.requests.length
    const seen = await see(rig.gateway.post(path, '', caller.token, { body }))
    expect([seen.status, seen.text]).toEqual([400, expect.stringContaining(`${place} appears twice in the request`)])
    expect(rig.upstream.requests.length).toBe(before)
    expect(await charged(rig, caller, 0)).toEqual([])
  })
})

describe('a field name that other programs may read as the name of a significant field is refused:', () => {
  test.each([
    ['\u017ftream', 'stream'],
    ['\uff53tream', 'stream'],
    ['max_token\u017f', 'max_tokens'],
    ['Max_Tokens', 'max_tokens'],
    ['N', 'n'],
    ['model\u017f', 'models'],
    ['SERVICE_TIER', 'service_tier'],
    ['\u017ftream_option\u017f', 'stream_options'],
  ])('%s', async (name, meant) => {
    const caller = await rig.caller()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], [name]: 1 }
    const seen = await see(rig.gateway.post(chatPath, body, caller.token))
    expectError(seen, 400, 'invalid_field_value')
    expect(seen.error?.message).toContain(`${name} must be written ${meant}`)
  })

  test.each(['\u017fize', 'Quality', '\uff4e'])('in an image request: %s', async (name) => {
    const caller = await rig.caller()
    const seen = await see(
      rig.gateway.post('/v1/images/generations', { model: 'gpt-image-1', prompt: 'Hi', [name]: 1 }, caller.token),
    )
    expectError(seen, 400, 'invalid_field_value')
  })

  test.each(['\u017fize', 'ModeL'])('in a form: %s', async (name) => {
    const caller = await rig.caller()
    const form = new FormData()
    form.set('model', 'gpt-image-1')
    form.set('prompt', 'Hi')
    form.set('image', new File(['x'], 'x.png'))
    form.set(name, '1')
    const headers = { authorization: `Bearer ${caller.token}` }
    const seen = await see(fetch(`${rig.gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form }))
    expectError(seen, 400, 'invalid_field_value')
  })

  test('other field names may use any letter case', async () => {
    const caller = await rig.caller()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], 'gr\u00f6\u00dfe': 1, TopK: 1 }
    expect((await see(rig.gateway.post(chatPath, body, caller.token))).status).toBe(200)
  })
})

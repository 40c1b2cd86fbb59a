// Where system messages are placed in requests to services, and `metadata` for services that refuse it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { RetryTimes: '0', ModelRatio: '{"m":1,"claude-opus-5":1}' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

async function sent(path: string, body: object, channel: object): Promise<{ body: JsonObject; header: string | null }> {
  await rig.clear()
  await rig.channel({ models: 'm,claude-opus-5', ...channel })
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post(path, { model: 'm', ...body }, caller.token))
  return { body: rig.upstream.requests[0]?.fields as JsonObject, header: seen.headers.get('x-tollgate-dropped') }
}
const messagesOf = async (path: string, body: object, channel: object) =>
  (await sent(path, body, channel)).body['messages']

const system = { role: 'system', content: 'Be brief.' }
const user = (content: unknown) => ({ role: 'user', content })
const assistant = { role: 'assistant', content: 'Hello.' }
const late = { role: 'system', content: 'Speak French.' }
const words = '<system>\nSpeak French.\n</system>'
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1abcdefg', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const result = { role: 'tool', tool_call_id: 'c1abcdefg', content: 'warm' }

/**
 * The caller's messages, the messages sent to services that accept a system message only at the beginning, and the
 * messages sent if all system messages are merged into the first.
 */
const cases: readonly (readonly [title: string, asked: object[], spoken: object[], first: object[]])[] = [
  [
    'after a user message',
    [system, user('Hi'), late],
    [system, user(`Hi\n\n${words}`)],
    [{ ...system, content: 'Be brief.\n\nSpeak French.' }, user('Hi')],
  ],
  [
    'after an assistant message',
    [system, user('Hi'), assistant, late, user('Go on')],
    [system, user('Hi'), assistant, user(`${words}\n\nGo on`)],
    [{ ...system, content: 'Be brief.\n\nSpeak French.' }, user('Hi'), assistant, user('Go on')],
  ],
  [
    'after an assistant message, at the end',
    [user('Hi'), assistant, { ...late, role: 'developer' }],
    [user('Hi'), assistant, user(words)],
    [late, user('Hi'), assistant],
  ],
  [
    'after the result of a tool',
    [user('Hi'), call, result, late],
    [user('Hi'), call, { ...result, content: `warm\n\n${words}` }],
    [late, user('Hi'), call, result],
  ],
  [
    'between a call and its result',
    [user('Hi'), call, late, result],
    [user('Hi'), call, { ...result, content: `${words}\n\nwarm` }],
    [late, user('Hi'), call, result],
  ],
  [
    'twice at the beginning',
    [system, late, user('Hi')],
    [{ ...system, content: 'Be brief.\n\nSpeak French.' }, user('Hi')],
    [{ ...system, content: 'Be brief.\n\nSpeak French.' }, user('Hi')],
  ],
  ['as developer', [{ ...system, role: 'developer' }, user('Hi')], [system, user('Hi')], [system, user('Hi')]],
  ['only at the beginning', [system, user('Hi')], [system, user('Hi')], [system, user('Hi')]],
  [
    'behind a picture',
    [user([{ type: 'text', text: 'Look' }]), late],
    [
      user([
        { type: 'text', text: 'Look' },
        { type: 'text', text: words },
      ]),
    ],
    [late, user([{ type: 'text', text: 'Look' }])],
  ],
  [
    'between two user messages',
    [user('Hi'), late, user('Go on'), user('Go')],
    [user(`Hi\n\n${words}\n\nGo on\n\nGo`)],
    [late, user('Hi'), user('Go on'), user('Go')],
  ],
  ['without a word', [user('Hi'), { ...late, content: ' ' }], [user('Hi')], [user('Hi')]],
  [
    'with only white space, in a list of parts',
    [user('Hi'), { ...late, content: [{ type: 'text', text: ' ' }] }],
    [user('Hi')],
    [user('Hi')],
  ],
]

describe.each(cases)('system messages %s', (title, asked, spoken, first) => {
  test.each([50, 8, 36, 28, 39, 56])('are sent to type %d only in places where it accepts them', async (type) => {
    // Several system messages at the beginning of a request in the service's own dialect are not merged.
    const out = title === 'twice at the beginning' ? asked : spoken
    expect(await messagesOf('/v1/chat/completions', { messages: asked }, { type })).toEqual(out)
  })

  test.each([1, 20, 45, 4])('are sent to type %d unchanged', async (type) => {
    expect(await messagesOf('/v1/chat/completions', { messages: asked }, { type })).toEqual(asked)
  })

  test('are placed according to the channel’s configuration', async () => {
    const to = (type: number, system_turns: string) =>
      messagesOf('/v1/chat/completions', { messages: asked }, { type, config: JSON.stringify({ system_turns }) })
    expect(await to(50, 'keep')).toEqual(asked)
    expect(await to(1, 'user')).toEqual(spoken)
    expect(await to(50, 'first')).toEqual(first)
  })
})

test('a channel’s own system prompt replaces the first system message, and later ones remain', async () => {
  expect(
    await messagesOf(
      '/v1/chat/completions',
      { messages: [system, user('Hi'), late] },
      { type: 50, system_prompt: 'Mine.' },
    ),
  ).toEqual([{ role: 'system', content: 'Mine.' }, user(`Hi\n\n${words}`)])
})

test('several system messages at the beginning are merged if they come from another dialect', async () => {
  const body = { instructions: 'Be brief.', input: [{ ...late, role: 'developer' }, user('Hi')] }
  const one = [{ ...system, content: 'Be brief.\n\nSpeak French.' }, user('Hi')]
  for (const type of [50, 8, 28, 36]) expect(await messagesOf('/v1/responses', body, { type })).toEqual(one)
  const messages = [late, user('Hi')]
  expect(await messagesOf('/v1/messages', { system: 'Be brief.', messages, max_tokens: 9 }, { type: 50 })).toEqual(one)
})

test('system messages of Codex in the middle become user messages for a service that accepts none there, and stay system messages for OpenAI', async () => {
  const input = [
    { type: 'message', role: 'user', content: 'Hi' },
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Speak French.' }] },
    { type: 'message', role: 'user', content: 'Go on' },
  ]
  const path = '/v1/responses'
  expect(await messagesOf(path, { input, instructions: 'Be brief.' }, { type: 50 })).toEqual([
    system,
    user(`Hi\n\n${words}\n\nGo on`),
  ])
  expect((await sent(path, { input }, { type: 54 })).body['input']).toEqual([
    input[0],
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
    input[2],
  ])
  expect((await sent(path, { input }, { type: 1 })).body['input']).toEqual(input)
})

test('system turns stay system turns for models of the Messages API that accept them, and become user turns for others', async () => {
  const messages = [user('Hi'), late, assistant, user('Go on')]
  const body = { messages, max_tokens: 10 }
  const spoken = [user(`Hi\n\n${words}`), assistant, user('Go on')]
  expect(await messagesOf('/v1/messages', body, { type: 36 })).toEqual(spoken)
  expect(await messagesOf('/v1/messages', body, { type: 14, model_mapping: '{"m":"claude-sonnet-4-5"}' })).toEqual(
    spoken,
  )
  expect(await messagesOf('/v1/messages', { ...body, model: 'claude-opus-5' }, { type: 14 })).toEqual(messages)
  const keeps = { type: 14, config: '{"system_turns":"keep"}' }
  expect(await messagesOf('/v1/messages', body, keeps)).toEqual(messages)
  expect(await messagesOf('/v1/messages', body, { type: 50 })).toEqual(spoken)
})

test('system messages are never placed between a call and its result, in any dialect', async () => {
  const called = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'warm' }
  const developer = { type: 'message', role: 'developer', content: 'Speak French.' }
  const asked = { type: 'message', role: 'user', content: 'Hi' }
  const { body } = await sent('/v1/responses', { input: [asked, called, developer, output] }, { type: 54 })
  expect(body['input']).toEqual([asked, called, output, { ...developer, role: 'user', content: words }])
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] }
  const given = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'warm' }
  const messages = [user('Hi'), use, late, user([given])]
  expect(await messagesOf('/v1/messages', { messages, max_tokens: 10 }, { type: 36 })).toEqual([
    user('Hi'),
    use,
    user([given, { type: 'text', text: words }]),
  ])
  const old = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }
  const told = { role: 'function', name: 'f', content: 'warm' }
  expect(await messagesOf('/v1/chat/completions', { messages: [user('Hi'), old, late, told] }, { type: 50 })).toEqual([
    user('Hi'),
    old,
    { ...told, content: `${words}\n\nwarm` },
  ])
})

describe('in a translated request', () => {
  const calls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } }))
  const asks = { role: 'assistant', content: null, tool_calls: calls }
  const tool = (id: string) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` })
  const used = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  const given = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` })
  const answered = (id: string) => ({ functionResponse: { id, name: 'f', response: { output: `of ${id}` } } })
  const orders = {
    'before the results': [late, tool('a'), tool('b')],
    'between the results': [tool('a'), late, tool('b')],
  }

  describe.each(Object.entries(orders))('system messages %s', (_title, rest) => {
    const messages = [user('Hi'), asks, ...rest, user('Go on')]

    test('are placed after the results, for a model of the Messages API that does not accept them there', async () => {
      const sonnet = { type: 14, model_mapping: '{"m":"claude-sonnet-4-5"}' }
      expect(await messagesOf('/v1/chat/completions', { messages }, sonnet)).toEqual([
        user('Hi'),
        { role: 'assistant', content: [used('a'), used('b')] },
        user([given('a'), given('b'), { type: 'text', text: words }, { type: 'text', text: 'Go on' }]),
      ])
    })

    test('are placed after the results, for a model of the Messages API that accepts them', async () => {
      expect(await messagesOf('/v1/chat/completions', { model: 'claude-opus-5', messages }, { type: 14 })).toEqual([
        user('Hi'),
        { role: 'assistant', content: [used('a'), used('b')] },
        user([given('a'), given('b')]),
        late,
        user('Go on'),
      ])
    })

    test('are placed after the results, for Google', async () => {
      const { body } = await sent('/v1/chat/completions', { messages }, { type: 24 })
      expect((body['contents'] as JsonObject[])[2]).toEqual({
        role: 'user',
        parts: [answered('a'), answered('b'), { text: words }, { text: 'Go on' }],
      })
    })

    test('are placed after the results, for a strict chat service and callers of another dialect', async () => {
      const developer = { type: 'message', role: 'developer', content: 'Speak French.' }
      const input = [
        { type: 'message', role: 'user', content: 'Hi' },
        ...calls.map(({ id }) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
        ...rest.map((each) =>
          'tool_call_id' in each
            ? { type: 'function_call_output', call_id: each.tool_call_id, output: each.content }
            : developer,
        ),
      ]
      expect(await messagesOf('/v1/responses', { input }, { type: 50 })).toEqual([
        user('Hi'),
        asks,
        tool('a'),
        { ...tool('b'), content: `of b\n\n${words}` },
      ])
    })
  })

  test('user text between results is placed after them too', async () => {
    const messages = [user('Hi'), asks, tool('a'), user('Wait'), tool('b')]
    expect(await messagesOf('/v1/chat/completions', { messages }, { type: 14 })).toEqual([
      user('Hi'),
      { role: 'assistant', content: [used('a'), used('b')] },
      user([given('a'), given('b'), { type: 'text', text: 'Wait' }]),
    ])
  })

  test('a call without a result does not move the messages after it', async () => {
    const messages = [user('Hi'), asks, tool('a'), late, assistant, user('Go on')]
    expect(await messagesOf('/v1/chat/completions', { messages }, { type: 14 })).toEqual([
      user('Hi'),
      { role: 'assistant', content: [used('a'), used('b')] },
      user([given('a'), { type: 'text', text: words }]),
      assistant,
      user('Go on'),
    ])
  })

  test('if a request has only system messages, they are sent as a user message to services that require one', async () => {
    const messages = [system, { role: 'developer', content: 'Say hello.' }]
    expect((await sent('/v1/chat/completions', { messages }, { type: 14 })).body).toMatchObject({
      system: 'Be brief.',
      messages: [user('Say hello.')],
    })
    expect((await sent('/v1/chat/completions', { messages }, { type: 24 })).body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    })
    expect(await messagesOf('/v1/chat/completions', { messages }, { type: 8 })).toEqual([
      system,
      { role: 'system', content: 'Say hello.' },
    ])
  })
})

test('messages of two named speakers are not merged', async () => {
  const messages = [{ ...user('Hi'), name: 'ann' }, late, { ...user('Ho'), name: 'bob' }]
  expect(await messagesOf('/v1/chat/completions', { messages }, { type: 50 })).toEqual([
    { ...user(`Hi\n\n${words}`), name: 'ann' },
    messages[2] as object,
  ])
})

test('a system turn that contains more than text stays a separate turn', async () => {
  const added = { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'f' } }] }
  const messages = [user('Hi'), added]
  expect(await messagesOf('/v1/messages', { messages, max_tokens: 10 }, { type: 36 })).toEqual(messages)
})

describe('metadata', () => {
  const metadata = { session: 's1' }
  const chat = { messages: [user('Hi')], metadata }

  test.each([28, 29, 56, 1])('is not sent to type %d, and is reported as dropped', async (type) => {
    const { body, header } = await sent('/v1/chat/completions', chat, { type })
    expect(body).not.toHaveProperty('metadata')
    expect(header).toBe('metadata')
  })

  test.each([50, 20, 36])('is sent to type %d', async (type) => {
    const { body, header } = await sent('/v1/chat/completions', chat, { type })
    expect([body['metadata'], header]).toEqual([metadata, null])
  })

  test('is sent to OpenAI if the answer is to be stored', async () => {
    expect((await sent('/v1/chat/completions', { ...chat, store: true }, { type: 1 })).body['metadata']).toEqual(
      metadata,
    )
    expect((await sent('/v1/chat/completions', { ...chat, store: true }, { type: 56 })).body).not.toHaveProperty(
      'metadata',
    )
  })

  test('is also reported as dropped if a caller of the Responses API sends it', async () => {
    const { body, header } = await sent('/v1/responses', { input: 'Hi', metadata }, { type: 28 })
    expect(body).not.toHaveProperty('metadata')
    expect(header).toContain('metadata')
  })
})

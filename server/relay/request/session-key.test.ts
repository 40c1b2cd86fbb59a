import { describe, expect, test } from 'bun:test'
import { sessionOf } from './session-key.ts'

type Source = Parameters<typeof sessionOf>[0]

function session(json: Record<string, unknown>, changes: Partial<Omit<Source, 'headers'>> = {}, headers = {}) {
  return sessionOf({
    affinity: 'on',
    tokenId: 1,
    body: { kind: 'json', text: '', json },
    mode: 'chat',
    dialect: 'openai-chat',
    ...changes,
    headers: new Headers(headers),
  })
}

const system = { role: 'system', content: 'You are a helpful assistant.' }
const first = { role: 'user', content: 'Hello' }
const turns = [system, first, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'And now?' }]
const uuid = '2f9d8c1a-1111-4222-8333-444455556666'

describe('the session of a call', () => {
  test.each([
    ['header X-Session-Id', {}, { 'x-session-id': uuid }],
    ['header X-Session-Affinity', {}, { 'x-session-affinity': uuid }],
    ['header X-Claude-Code-Session-Id', {}, { 'x-claude-code-session-id': uuid }],
    ['header session_id, as Codex sends it', {}, { session_id: uuid }],
    ['header session-id', {}, { 'session-id': uuid }],
    ['prompt_cache_key', { prompt_cache_key: uuid }, {}],
    ['metadata.session_id', { metadata: { session_id: uuid } }, {}],
    ['the user id of Claude Code', { metadata: { user_id: `user_ab12_account_9c_session_${uuid}` } }, {}],
    ['its newer user id', { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: uuid }) } }, {}],
    ['conversation', { conversation: uuid }, {}],
    ['conversation.id', { conversation: { id: uuid } }, {}],
  ])('is named by %s', (_, body, headers) => {
    const named = session({ model: 'm', messages: turns, ...body }, {}, headers)
    expect(named).toBe(session({ model: 'm', messages: [{ role: 'user', content: 'Other' }], ...body }, {}, headers))
    // All ways of naming the same session mean the same session.
    expect(named).toBe(session({ messages: [first] }, {}, { 'x-session-id': uuid }))
    expect(named).not.toBe(session({ messages: turns }))
  })

  test('is named by a header first, then by the body', () => {
    const headers = { 'x-session-id': 'a', session_id: 'b' }
    const byHeader = session({ prompt_cache_key: 'c', metadata: { session_id: 'd' } }, {}, headers)
    expect(byHeader).toBe(session({}, {}, { 'x-session-id': 'a' }))
    const byBody = session({ prompt_cache_key: 'c', metadata: { session_id: 'd' }, conversation: 'e' })
    expect(byBody).toBe(session({ prompt_cache_key: 'c' }))
  })

  test.each(['user_ab12_account_9c_session_', 'a person', '{"session_id": 5}', '{not JSON', ''])(
    'is not named by the user id %p',
    (userId) => {
      expect(session({ messages: turns, metadata: { user_id: userId } })).toBe(session({ messages: turns }))
    },
  )

  test.each([
    ['OpenAI chat', 'openai-chat', { messages: turns.slice(0, 2) }, { messages: turns }],
    [
      'Responses',
      'openai-responses',
      { instructions: 'S', input: 'Hello' },
      { instructions: 'S', input: 'Hello', previous_response_id: 'resp_1' },
    ],
    [
      'Responses with a list',
      'openai-responses',
      { instructions: 'S', input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }] },
      {
        instructions: 'S',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
          { type: 'function_call_output', call_id: 'c', output: 'x' },
        ],
      },
    ],
    [
      'Messages, except for the line that Claude Code changes in every call',
      'anthropic-messages',
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cch=1;' },
          { type: 'text', text: 'S' },
        ],
        messages: [first],
      },
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cch=2;' },
          { type: 'text', text: 'S' },
        ],
        messages: [first, ...turns.slice(2)],
      },
    ],
    [
      'Gemini',
      'gemini',
      { systemInstruction: { parts: [{ text: 'S' }] }, contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
      {
        systemInstruction: { parts: [{ text: 'S' }] },
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          { role: 'model', parts: [{ text: 'Hi' }] },
        ],
      },
    ],
  ] as const)('stays the same from turn to turn: %s', (_, dialect, body, later) => {
    const begun = session(body, { dialect })
    expect(begun).toBeNumber()
    expect(session(later, { dialect })).toBe(begun)
  })

  test('depends on the system prompt, the tools, the first message and the token', () => {
    const plain = { messages: turns }
    const others = [
      session(plain),
      session(plain, { tokenId: 2 }),
      session({ messages: [{ ...system, content: 'S' }, ...turns.slice(1)] }),
      session({ messages: [system, { ...first, content: 'Hello!' }] }),
      session({ ...plain, tools: [{ type: 'function', function: { name: 'read' } }] }),
      session({ ...plain, tools: [{ type: 'function', function: { name: 'write' } }] }),
      session(plain, {}, { 'x-session-id': uuid }),
      session(plain, { tokenId: 2 }, { 'x-session-id': uuid }),
    ]
    expect(new Set(others).size).toBe(others.length)
  })

  test('is recognised in long texts by their ends and their length', () => {
    const long = (text: string) => session({ messages: [{ role: 'user', content: text }] })
    const text = 'a'.repeat(100_000)
    expect(long(text)).toBe(long(text))
    for (const other of [`b${text.slice(1)}`, `${text.slice(1)}b`, `${text}a`]) expect(long(other)).not.toBe(long(text))
  })

  test('is unknown for a call without a name if only named sessions count, if no sessions count, and for calls that are not conversations', () => {
    expect(session({ messages: turns }, { affinity: 'explicit' })).toBeUndefined()
    expect(session({ prompt_cache_key: 'a' }, { affinity: 'explicit' })).toBeNumber()
    expect(session({ prompt_cache_key: 'a' }, { affinity: 'off' })).toBeUndefined()
    expect(session({ input: 'Hello' }, { mode: 'embeddings' })).toBeUndefined()
    for (const messages of [undefined, 'Hello', [], [system], [null]])
      expect(session({ messages }) === undefined).toBe(messages !== 'Hello')
  })
})

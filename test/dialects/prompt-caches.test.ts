// How the gateway changes requests so that services find their prompts in the cache: it adds cache breakpoints and
// removes text that differs in each request.
import { describe, expect, test } from 'bun:test'
import { bedrockConverse } from '../../server/dialects/bedrock-converse/index.ts'
import { cohereChat } from '../../server/dialects/cohere-chat/index.ts'
import { ernie } from '../../server/dialects/ernie/index.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import { ollamaChat } from '../../server/dialects/ollama-chat/index.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dialects } from '../helpers/dialects.ts'

function moved(from: DialectName, wire: JsonObject, to: UpstreamDialect) {
  const conversation = dialects[from].decodeRequest(wire)
  const { body, dropped } = to.encodeRequest({ ...conversation, model: 'anthropic.claude-sonnet-4-5' })
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, dropped }
}

const { 'anthropic-messages': messages, 'openai-chat': chat, 'openai-responses': responses, gemini } = dialects

describe('account details that Claude Code sends', () => {
  const note = 'x-anthropic-billing-header: cc_version=2.1.119.abc; cc_entrypoint=cli; cch=12345;'
  const ask = (system: unknown) => ({
    model: 'm',
    max_tokens: 100,
    system,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const text = (value: string) => ({ type: 'text', text: value })

  test.each([
    ['first', [text(note), text('You are Claude Code.')]],
    ['later', [text('You are Claude Code.'), text(note)]],
    ['as the first line of a system prompt without blocks', `${note}\nYou are Claude Code.`],
    ['as a line within a block', [text(`You are Claude Code.\n${note}`)]],
  ])('are not sent to any other service: %s', (_, system) => {
    for (const to of [chat, responses, gemini, bedrockConverse, cohereChat, ollamaChat, ernie]) {
      const { body, dropped } = moved('anthropic-messages', ask(system), to)
      const sent = JSON.stringify(body)
      expect([to.name, sent.includes('x-anthropic'), sent.includes('You are Claude Code.')]).toEqual([
        to.name,
        false,
        true,
      ])
      expect(dropped).toEqual([])
    }
  })

  test('are sent to Anthropic, and are also sent to other services if they are in a user message', () => {
    const system = [text(note), text('You are Claude Code.')]
    expect(moved('anthropic-messages', ask(system), messages).body['system']).toEqual(system)
    const asked = { ...ask('Be brief.'), messages: [{ role: 'user', content: `What is ${note}` }] }
    expect(JSON.stringify(moved('anthropic-messages', asked, chat).body)).toContain('x-anthropic-billing-header')
  })
})

describe("Claude's cache breakpoints for callers of OpenAI's dialects", () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const asked = {
    model: 'm',
    prompt_cache_key: 'project-1',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And?' },
    ],
    tools,
  }
  const mark = { type: 'ephemeral' }

  test('are at the end of the system prompt and of the conversation, if a cache key indicates that requests share a prefix', () => {
    const { body, dropped } = moved('openai-chat', asked, messages)
    expect(body['system']).toEqual([{ type: 'text', text: 'Be brief.', cache_control: mark }])
    expect((body['messages'] as JsonObject[]).map(({ content }) => content)).toEqual([
      'Hi',
      'Hello',
      [{ type: 'text', text: 'And?', cache_control: mark }],
    ])
    expect(dropped).toEqual([])
  })

  test('last an hour if the caller wants the cache to be kept longer', () => {
    const { body } = moved('openai-chat', { ...asked, prompt_cache_retention: '24h' }, messages)
    expect(JSON.stringify(body)).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}')
  })

  test('are on the last tool if there is no system prompt, and on a tool result if that is the last block', () => {
    const input = [
      { role: 'user', content: 'Look' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'It.' },
    ]
    const declared = [
      { type: 'function', name: 'look', parameters: { type: 'object' } },
      { type: 'function', name: 'find', parameters: { type: 'object' } },
    ]
    const { body } = moved('openai-responses', { model: 'm', prompt_cache_key: 'k', input, tools: declared }, messages)
    expect((body['tools'] as JsonObject[]).map(({ cache_control }) => cache_control)).toEqual([undefined, mark])
    expect((body['messages'] as JsonObject[]).at(-1)?.['content']).toMatchObject([
      { type: 'tool_result', cache_control: mark },
    ])
  })

  test('are sent to Bedrock in Bedrock’s format', () => {
    const { body } = moved('openai-chat', asked, bedrockConverse)
    expect(body['system']).toEqual([{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }])
  })

  test('are absent if there is no cache key, or if the caller has set some already', () => {
    const { prompt_cache_key: _key, ...plain } = asked
    expect(JSON.stringify(moved('openai-chat', plain, messages).body)).not.toContain('cache_control')
    const own = { type: 'text', text: 'Hi', cache_control: mark }
    const marked = {
      ...asked,
      messages: [
        { role: 'user', content: [own] },
        { role: 'user', content: 'And?' },
      ],
    }
    expect(JSON.stringify(moved('openai-chat', marked, messages).body).match(/cache_control/g)).toHaveLength(1)
  })

  test('number at most four, however long the conversation is', () => {
    const long = Array.from({ length: 9 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: `Turn ${at}` }))
    const { body } = moved('openai-chat', { ...asked, messages: long }, messages)
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(2)
  })
})

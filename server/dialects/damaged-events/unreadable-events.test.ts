import { describe, expect, test } from 'bun:test'
import { anthropicMessages } from '../anthropic-messages/index.ts'
import { cohereChat } from '../cohere-chat/index.ts'
import { gemini } from '../gemini/index.ts'
import type { UpstreamDialect } from '../neutral/dialect.ts'
import { unreadable } from '../neutral/failure.ts'
import { openaiChat } from '../openai-chat/index.ts'
import { OpenAiStreamMeter } from '../openai-passthrough/stream.ts'
import { TypedEventMeter } from '../openai-passthrough/typed-stream.ts'
import { ForgivingDecoder } from './forgiving-decoder.ts'

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }], ...more })
const call = (args: string, head: object = {}) =>
  chunk({ tool_calls: [{ index: 0, ...head, function: { ...head, arguments: args } }] })
const begun = { id: 'a', name: 'f' }
const claude = (type: string, more: object = {}) => JSON.stringify({ type, index: 0, ...more })
const start = claude('message_start', { message: { id: 'm', usage: { input_tokens: 1 } } })
const tool = claude('content_block_start', { content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } })
const input = (partial_json: string) =>
  claude('content_block_delta', { delta: { type: 'input_json_delta', partial_json } })
const text = claude('content_block_delta', { delta: { type: 'text_delta', text: 'Hi' } })

/** True if a stream of these events ends with the error `unreadable`. */
function isBroken(dialect: UpstreamDialect, data: readonly string[]): boolean {
  const decoder = new ForgivingDecoder(dialect.streamDecoder('seed'))
  const events = [...data.flatMap((each) => decoder.push(each) ?? []), ...decoder.finish()]
  return events.some((event) => event.type === 'error' && event.failure === unreadable)
}

describe('an event that is cut off before it shows whether it is part of a call', () => {
  test.each([
    [
      'openai-chat',
      openaiChat,
      [call('{"path":"/tmp', begun), '{"id":"c","choices":[{"index":0,"delta":{"tool_ca', call('"}')],
    ],
    ['openai-chat', openaiChat, [call('{"path":"/tmp', begun), '"}', call('"}')]],
    ['openai-chat', openaiChat, [chunk({ content: 'Hi' }), '{"id":"c","cho', call('{}')]],
    [
      'anthropic-messages',
      anthropicMessages,
      [start, tool, input('{"a":"'), '{"type":"content_block_delta","index":0,"del', input('"}')],
    ],
    ['anthropic-messages', anthropicMessages, [start, '{"ty', text]],
    ['anthropic-messages', anthropicMessages, [start, 'oops', text]],
    [
      'gemini',
      gemini,
      [
        '{"candidates":[{"index":0,"content":{"parts":[{"text":"Hi"}]}}]}',
        '{"candidates":[{"content":{"parts":[{"func',
      ],
    ],
    [
      'cohere-chat',
      cohereChat,
      ['{"type":"message-start","id":"c"}', '{"type":"tool-call-delta","index":0,"delta":{"mess'],
    ],
  ] as const)('ends a stream in the dialect %s with an error', (_, dialect, data) => {
    expect(isBroken(dialect, data)).toBe(true)
  })
})

test('text that does not look like JSON is skipped even during a call', () => {
  const data = [call('{"path":', begun), ': still working', call('"/tmp"}'), chunk({}, 'tool_calls'), '[DONE]']
  expect(isBroken(openaiChat, data)).toBe(false)
  const meter = new OpenAiStreamMeter()
  expect(data.map((each) => meter.feed(each))).toEqual(['content', 'skip', 'content', 'content', 'done'])
})

test('a chat stream that is passed through ends with an error at an unreadable event that may be part of a call', () => {
  const signals = (...data: string[]) => {
    const meter = new OpenAiStreamMeter()
    return data.map((each) => meter.feed(each)).at(-1)
  }
  expect(signals(call('{"a":"', begun), '{"id":"c","choices":[{"index":0,"delta":{"tool_ca')).toBe('garbage')
  expect(signals(call('{"a":"', begun), '{"id":"c","choi')).toBe('garbage')
  expect(signals(chunk({ content: 'Hi' }), 'oops', call('{}'))).toBe('garbage')
  expect(signals(chunk({ content: 'Hi' }), '{"id":"c","choi')).toBe('skip')
})

test('usage that arrived before the stop reason is not treated as the final usage', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 1 }
  const data = [chunk({ content: 'Hi' }, null, { usage }), chunk({}, 'stop'), 'oops', '[DONE]']
  expect(isBroken(openaiChat, data)).toBe(true)
  const meter = new OpenAiStreamMeter()
  expect(data.map((each) => meter.feed(each)).at(-1)).toBe('garbage')
  const told = [...data.slice(0, 2), JSON.stringify({ choices: [], usage }), 'oops', '[DONE]']
  expect(isBroken(openaiChat, told)).toBe(false)
})

test('`[DONE]` does not complete a stream of typed events whose last event was skipped', () => {
  const meter = new TypedEventMeter()
  const data = ['{"type":"transcript.text.delta","delta":"Hi"}', 'oops', '[DONE]']
  expect(data.map((each) => meter.feed(each))).toEqual(['content', 'skip', 'garbage'])
})

test('a stream that is passed through ends with an error at arguments that are nested too deeply to be serialized again', () => {
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
  const meter = new OpenAiStreamMeter()
  const data = `{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${deep}}}]}}]}`
  expect(meter.feed(data)).toBe('garbage')
})

import { describe, expect, test } from 'bun:test'
import { OpenAiStreamMeter } from './stream.ts'
import { TypedEventMeter } from './typed-stream.ts'

function fed(events: readonly unknown[], choices = 1): OpenAiStreamMeter {
  const meter = new OpenAiStreamMeter(choices)
  for (const event of events) meter.feed(JSON.stringify(event))
  return meter
}

const delta = (content: unknown, more: object = {}) => ({ choices: [{ index: 0, delta: { content }, ...more }] })

describe('a chat stream', () => {
  test('signals what an event is', () => {
    const meter = new OpenAiStreamMeter()
    const signals: readonly (readonly [string, string])[] = [
      ['[DONE]', 'done'],
      [' [DONE] ', 'done'],
      ['', 'content'],
      ['{"choices":[]}', 'content'],
      ['{"choices":[],"usage":{"prompt_tokens":1}}', 'usage-only'],
      ['{"usage":{"prompt_tokens":1}}', 'usage-only'],
      ['{"choices":[],"usage":null}', 'content'],
      ['{"choices":[{"delta":{}}],"usage":{"prompt_tokens":2}}', 'content'],
      ['{"error":{"message":"x"}}', 'error'],
      ['{"error":"x"}', 'error'],
      ['{"error":null,"choices":[]}', 'content'],
      ['{"error":{},"choices":[{"delta":{}}]}', 'content'],
      ['{"choices":[', 'garbage'],
      ['text', 'garbage'],
      ['[]', 'garbage'],
      ['null', 'garbage'],
      ['{"choices":"none"}', 'content'],
      ['{"choices":[null,5]}', 'content'],
    ]
    for (const [data, signal] of signals) expect([data, meter.feed(data)]).toEqual([data, signal as never])
  })

  test('collects everything that is charged for', () => {
    const meter = fed([
      delta(''),
      delta('Hello'),
      { choices: [{ index: 0, delta: { reasoning_content: 'think' } }] },
      { choices: [{ index: 0, delta: { reasoning: 'more' } }] },
      { choices: [{ index: 0, delta: { refusal: 'no' } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a"' } }] } }] },
      { choices: [{ index: 0, delta: { function_call: { arguments: ':1}' } } }] },
      { choices: [{ index: 0, delta: { audio: { transcript: 'said' } } }] },
      { choices: [{ index: 0, text: 'legacy' }] },
      delta([
        { type: 'thinking', thinking: [{ type: 'text', text: 'deep' }] },
        { type: 'text', text: 'list' },
      ]),
    ])
    expect(meter.output()).toBe('Hellothinkmorenof{"a":1}saidlegacydeeplist')
    expect(meter.characters).toBe(meter.output().length)
    expect(meter.pieces).toBe(9)
  })

  test('keeps the last usage, wherever it stands', () => {
    expect(
      fed([
        { ...delta('a'), usage: { prompt_tokens: 1 } },
        { ...delta('b'), usage: { prompt_tokens: 2 } },
      ]).usage,
    ).toEqual({
      prompt_tokens: 2,
    })
    expect(fed([{ choices: [], x_groq: { usage: { prompt_tokens: 3 } } }]).usage).toEqual({ prompt_tokens: 3 })
    expect(fed([{ choices: [{ usage: { prompt_tokens: 4 } }] }]).usage).toEqual({ prompt_tokens: 4 })
  })

  test('is finished when every answer asked for has its reason', () => {
    const end = (index: number) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })
    expect(fed([]).finished).toBe(false)
    expect(fed([delta('a')]).finished).toBe(false)
    expect(fed([delta('a', { finish_reason: '' })]).finished).toBe(false)
    expect(fed([delta('a', { finish_reason: null })]).finished).toBe(false)
    expect(fed([delta('a'), end(0)]).finished).toBe(true)
    expect(fed([delta('a'), end(0), end(0)], 2).finished).toBe(false)
    expect(fed([delta('a'), end(0), end(1)], 2).finished).toBe(true)
    expect(fed([{ choices: [{ index: 1, delta: {} }] }, end(0)]).finished).toBe(false)
    // Some services send one more empty delta after the reason.
    expect(fed([end(0), delta('')]).finished).toBe(true)
  })
})

describe('a stream of typed events', () => {
  test('signals, collects and ends', () => {
    const meter = new TypedEventMeter()
    expect(meter.feed('{"type":"transcript.text.delta","delta":"Hel"}')).toBe('content')
    expect(meter.finished).toBe(false)
    expect(meter.feed('{"type":"transcript.text.delta","delta":"lo"}')).toBe('content')
    expect(meter.feed('{"type":"transcript.text.done","text":"Hello","usage":{"input_tokens":5}}')).toBe('content')
    expect(meter.finished).toBe(true)
    expect(meter.output()).toBe('Hello')
    expect(meter.usage).toEqual({ input_tokens: 5 })
    expect(meter.feed('[DONE]')).toBe('done')
    expect(meter.feed('{"type":"error","message":"x"}')).toBe('error')
    expect(meter.feed('{"error":{"message":"y"}}')).toBe('error')
    expect(meter.error).toEqual({ message: 'y' })
    expect(meter.feed('{"type":')).toBe('garbage')
  })
})

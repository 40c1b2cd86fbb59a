import { describe, expect, test } from 'bun:test'
import { OpenAiStreamMeter } from './stream.ts'
import { TypedEventMeter } from './typed-stream.ts'

function fed(events: readonly unknown[], choices = 1): OpenAiStreamMeter {
  const meter = new OpenAiStreamMeter(choices)
  for (const event of events) meter.feed(JSON.stringify(event))
  return meter
}

const delta = (content: unknown, more: object = {}) => ({ choices: [{ index: 0, delta: { content }, ...more }] })

describe('the meter of a chat stream', () => {
  test('reports the kind of each event', () => {
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
      ['{"choices":[', 'skip'],
      ['text', 'garbage'],
      ['[]', 'garbage'],
      ['null', 'garbage'],
      ['{"choices":"none"}', 'content'],
      ['{"choices":[null,5]}', 'content'],
    ]
    for (const [data, signal] of signals) expect([data, meter.feed(data)]).toEqual([data, signal as never])
  })

  test('collects all text that is charged', () => {
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

  test('keeps the last usage, regardless of the field that contains it', () => {
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

  test('is finished when every requested answer has a finish reason', () => {
    const end = (index: number) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })
    expect(fed([]).finished).toBe(false)
    expect(fed([delta('a')]).finished).toBe(false)
    expect(fed([delta('a', { finish_reason: '' })]).finished).toBe(false)
    expect(fed([delta('a', { finish_reason: null })]).finished).toBe(false)
    expect(fed([delta('a'), end(0)]).finished).toBe(true)
    expect(fed([delta('a'), end(0), end(0)], 2).finished).toBe(false)
    expect(fed([delta('a'), end(0), end(1)], 2).finished).toBe(true)
    expect(fed([{ choices: [{ index: 1, delta: {} }] }, end(0)]).finished).toBe(false)
    // Some services send one more empty delta after the finish reason.
    expect(fed([end(0), delta('')]).finished).toBe(true)
  })
})

describe('the meter of a stream whose events differ only in their text, so that it can skim them (find the text without parsing)', () => {
  const event = (part: object) => `data: ${JSON.stringify(part)}\n\n`
  const plain = (content: string, more: object = {}) => event({ id: 'a', ...delta(content, more), usage: null })

  /**
   * Passes a block of events to a meter, which skims as many as it can. Returns the meter, the number of events that
   * had to be fed, and the signals of those events.
   */
  function skimmed(block: string): { meter: OpenAiStreamMeter; fedCount: number; signals: string[] } {
    const meter = new OpenAiStreamMeter()
    const signals: string[] = []
    for (let at = meter.skim(block, 0); at < block.length; at = meter.skim(block, at)) {
      const end = block.indexOf('\n\n', at) + 2
      signals.push(meter.feed(block.slice(at + 'data: '.length, end - 2)))
      at = end
    }
    return { meter, fedCount: signals.length, signals }
  }

  test('parses the first plain event and skims the similar events after it', () => {
    const words = Array.from({ length: 50 }, (_, index) => ` word ${index} é東🚀`)
    const { meter, fedCount } = skimmed(words.map((word) => plain(word)).join(''))
    expect(fedCount).toBe(1)
    expect(meter.output()).toBe(words.join(''))
    expect(meter.characters).toBe(words.join('').length)
    expect(meter.pieces).toBe(50)
    expect(meter.finished).toBe(false)
  })

  const others: readonly (readonly [string, string])[] = [
    ['its end', plain('', { finish_reason: 'stop' })],
    ['an end event that contains text', plain('z', { finish_reason: 'stop' })],
    ['usage', event({ id: 'a', ...delta('b'), usage: { prompt_tokens: 1, completion_tokens: 2 } })],
    ['an error', event({ error: { message: 'x' } })],
    ['the end marker', 'data: [DONE]\n\n'],
    ['nothing said', plain('')],
    ['escapes', plain('a "quoted" \\ line\nand more\u0000')],
    ['text that looks like the end of an event', plain('x"}}],"usage":null}\n\ndata: [DONE]')],
    ['a backslash at the end of the text', plain('x\\')],
    ['another choice', event({ id: 'a', choices: [{ index: 1, delta: { content: 'b' } }], usage: null })],
    ['a blank line within an event', plain('ab').replace('ab', 'a\n\nb')],
    ['tool calls', event({ choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: 'q' } }] } }] })],
    ['reasoning', event({ choices: [{ index: 0, delta: { content: null, reasoning_content: 'q' } }] })],
    [
      'the same word in several fields',
      event({ choices: [{ index: 0, delta: { role: 'b', content: 'b', 'a"content': 'b' } }] }),
    ],
    ['a comment', ': hello\n\n'],
  ]
  for (const [name, other] of others) {
    test(`gives the same result as parsing everything if the plain events include ${name}`, () => {
      for (const events of [
        [plain('a'), plain('b'), other, plain('c'), plain('d')],
        [other, plain('a'), plain('b'), other],
        [other, other, plain('c')],
      ]) {
        const { meter, signals } = skimmed(events.join(''))
        const whole = new OpenAiStreamMeter()
        const pieces = events.join('').split('\n\n').slice(0, -1)
        const wholeSignals = pieces.map((each) => whole.feed(each.slice('data: '.length)))
        const figures = (it: OpenAiStreamMeter) => [
          it.output(),
          it.pieces,
          it.characters,
          it.finished,
          it.usage,
          it.error,
        ]
        expect(figures(meter)).toEqual(figures(whole))
        expect(signals.filter((each) => each !== 'content')).toEqual(wholeSignals.filter((each) => each !== 'content'))
      }
    })
  }
})

describe('the meter of a stream of typed events', () => {
  test('reports events, collects the text and recognizes the end', () => {
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
    expect(meter.feed('{"type":')).toBe('skip')
  })
})

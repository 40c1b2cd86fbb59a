import { describe, expect, test } from 'bun:test'
import { DecodingMeter } from '../../server/dialects/metering/decoding-meter.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { ReplyPart } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, dataOf, decodeAll, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

const names = Object.keys(dialects) as DialectName[]
const responses = dialects['openai-responses']

const created = { type: 'response.created', response: { id: 'resp_1', model: 'up', status: 'in_progress', output: [] } }
const completed = (...output: JsonObject[]) => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: 'up', status: 'completed', output },
})
const event = (type: string, rest: JsonObject): JsonObject => ({ type: `response.${type}`, output_index: 0, ...rest })

const call = (input: string, rest: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: input,
  ...rest,
})
const message = (text: string, rest: JsonObject = {}): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...rest,
})
const refusing: JsonObject = { ...message(''), content: [{ type: 'refusal', refusal: 'I would rather not.' }] }
const input = '{"path":"/tmp"}'
const delta = (text: string, rest: JsonObject = {}) =>
  event('output_text.delta', { item_id: 'msg_1', content_index: 0, delta: text, ...rest })
const argumentsDelta = (text: string, rest: JsonObject = {}) =>
  event('function_call_arguments.delta', { item_id: 'fc_1', delta: text, ...rest })

const theCall: ReplyPart = { type: 'tool-call', id: 'call_1', name: 'look', input }
const hello: ReplyPart = { type: 'text', text: 'Hello' }

/** Streams of the Responses API, and what a caller must have received from each. */
const streams: readonly (readonly [string, readonly JsonObject[], readonly ReplyPart[]])[] = [
  ['a call that is only in the last event', [completed(call(input))], [theCall]],
  ['a message that is only in the last event', [completed(message('Hello'))], [hello]],
  [
    'two messages and two calls that are only in the last event',
    [
      completed(
        message('Hello'),
        call('{"n":1}', { id: 'fc_a', call_id: 'a' }),
        call('{"n":1}', { id: 'fc_b', call_id: 'b' }),
        message('Hello', { id: 'msg_2' }),
      ),
    ],
    [
      hello,
      { ...theCall, id: 'a', input: '{"n":1}' } as ReplyPart,
      { ...theCall, id: 'b', input: '{"n":1}' } as ReplyPart,
      hello,
    ],
  ],
  [
    'a call whose input is only in the event that ends the item',
    [
      event('output_item.added', { item: call('') }),
      event('output_item.done', { item: call(input) }),
      completed(call(input)),
    ],
    [theCall],
  ],
  [
    'a call whose input is only in the event that ends its arguments',
    [
      event('output_item.added', { item: call('') }),
      event('function_call_arguments.done', { arguments: input }),
      completed(),
    ],
    [theCall],
  ],
  [
    'a call that started earlier and whose input is only in the last event',
    [event('output_item.added', { item: call('') }), completed(call(input))],
    [theCall],
  ],
  [
    'a call that starts with an empty input object, followed by deltas',
    [
      event('output_item.added', { item: call('{}') }),
      argumentsDelta('{"path":'),
      argumentsDelta('"/tmp"}'),
      event('output_item.done', { item: call(input) }),
      completed(call(input)),
    ],
    [theCall],
  ],
  [
    'a call that starts with its complete input and has no deltas',
    [event('output_item.added', { item: call(input) }), completed()],
    [theCall],
  ],
  [
    'a call whose deltas arrive before its name',
    [
      argumentsDelta('{"path":"/t'),
      argumentsDelta('mp"}'),
      event('output_item.done', { item: call(input) }),
      completed(),
    ],
    [theCall],
  ],
  [
    'a call whose deltas break off before the end',
    [event('output_item.added', { item: call('') }), argumentsDelta('{"path":"/t'), completed(call(input))],
    [theCall],
  ],
  [
    'text that is only in the event that ends the content part',
    [
      event('output_item.added', { item: message('', { content: [] }) }),
      event('content_part.done', { content_index: 0, part: { type: 'output_text', text: 'Hello', annotations: [] } }),
      completed(),
    ],
    [hello],
  ],
  [
    'text that is only in the event that ends the text',
    [event('output_text.done', { item_id: 'msg_1', content_index: 0, text: 'Hello' }), completed(message('Hello'))],
    [hello],
  ],
  [
    'text that is only in the event that ends the item',
    [event('output_item.done', { item: message('Hello') }), completed()],
    [hello],
  ],
  [
    'a refusal that is only in the event that ends the item',
    [event('output_item.done', { item: refusing }), completed(refusing)],
    [{ type: 'refusal', text: 'I would rather not.' }],
  ],
  [
    'a refusal that is only in the last event',
    [completed(refusing)],
    [{ type: 'refusal', text: 'I would rather not.' }],
  ],
  ['half of the text in a delta and all of it in the last event', [delta('Hel'), completed(message('Hello'))], [hello]],
  [
    'half of the text in a delta and all of it in every closing event',
    [
      delta('Hel'),
      event('output_text.done', { item_id: 'msg_1', content_index: 0, text: 'Hello' }),
      event('content_part.done', { item_id: 'msg_1', content_index: 0, part: { type: 'output_text', text: 'Hello' } }),
      event('output_item.done', { item: message('Hello') }),
      completed(message('Hello')),
    ],
    [hello],
  ],
  [
    'a text that the closing events repeat without its trailing space',
    [delta('Hello '), event('output_item.done', { item: message('Hello') }), completed(message('Hello'))],
    [{ type: 'text', text: 'Hello ' }],
  ],
  [
    'a text for which the closing events contain other words',
    [delta('Hello'), event('output_item.done', { item: message('Good day') }), completed(message('Good day'))],
    [hello],
  ],
  [
    'an item with a different id in every event',
    [
      event('output_item.added', { item: message('', { id: 'x1', content: [] }) }),
      delta('Hello', { item_id: 'x2' }),
      event('output_item.done', { item: message('Hello', { id: 'x3' }) }),
      completed(message('Hello', { id: 'x4' })),
    ],
    [hello],
  ],
  [
    'items without indexes and ids, which the last event repeats',
    [
      { type: 'response.output_text.delta', delta: 'Hello' },
      { type: 'response.output_item.done', item: message('Hello', { id: undefined }) },
      { type: 'response.output_item.added', item: call('', { id: undefined }) },
      { type: 'response.function_call_arguments.delta', delta: input },
      { type: 'response.output_item.done', item: call(input, { id: undefined }) },
      completed(message('Hello', { id: undefined }), call(input, { id: undefined })),
    ],
    [hello, theCall],
  ],
  [
    'items that all have index 0',
    [
      event('output_item.added', { item: call('', { id: 'fc_a', call_id: 'a' }) }),
      argumentsDelta('{"n":1}', { item_id: 'fc_a' }),
      event('output_item.done', { item: call('{"n":1}', { id: 'fc_a', call_id: 'a' }) }),
      event('output_item.added', { item: call('', { id: 'fc_b', call_id: 'b' }) }),
      argumentsDelta('{"n":2}', { item_id: 'fc_b' }),
      event('output_item.done', { item: call('{"n":2}', { id: 'fc_b', call_id: 'b' }) }),
      completed(call('{"n":1}', { id: 'fc_a', call_id: 'a' }), call('{"n":2}', { id: 'fc_b', call_id: 'b' })),
    ],
    [{ ...theCall, id: 'a', input: '{"n":1}' } as ReplyPart, { ...theCall, id: 'b', input: '{"n":2}' } as ReplyPart],
  ],
  [
    'a final output that omits the first item',
    [
      event('output_item.added', { item: { type: 'reasoning', id: 'rs_1', summary: [] } }),
      event('reasoning_summary_text.delta', { item_id: 'rs_1', summary_index: 0, delta: 'Well' }),
      event('output_item.done', {
        item: { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Well' }] },
      }),
      delta('Hello', { output_index: 1 }),
      event('output_item.done', { output_index: 1, item: message('Hello') }),
      completed(message('Hello')),
    ],
    [{ type: 'reasoning', text: 'Well' }, hello],
  ],
  [
    'a thought that is only in the last event',
    [
      completed(
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'One' },
            { type: 'summary_text', text: 'Two' },
          ],
        },
        message('Hello'),
      ),
    ],
    [{ type: 'reasoning', text: 'One\n\nTwo' }, hello],
  ],
  [
    'paragraphs of a thought; one is only in its own closing event',
    [
      event('output_item.added', { item: { type: 'reasoning', id: 'rs_1', summary: [] } }),
      event('reasoning_summary_text.delta', { summary_index: 0, delta: 'O' }),
      event('reasoning_summary_text.done', { summary_index: 0, text: 'One' }),
      event('reasoning_summary_part.done', { summary_index: 1, part: { type: 'summary_text', text: 'Two' } }),
      completed(
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'One' },
            { type: 'summary_text', text: 'Two' },
          ],
        },
        message('Hello'),
      ),
    ],
    [{ type: 'reasoning', text: 'One\n\nTwo' }, hello],
  ],
]

describe('content that the Responses API sends only in an event at the end', () => {
  for (const [title, events, parts] of streams) {
    const data = [created, ...events].map((each) => JSON.stringify(each))
    test(`is sent once: ${title}`, () => {
      const { reply, ended } = assemble(decodeAll(responses, data))
      expect(ended).toBe(true)
      expect(reply.choices[0]?.parts).toEqual(parts as ReplyPart[])
    })
    test(`reaches callers of every dialect: ${title}`, () => {
      const told = decodeAll(responses, data)
      for (const to of names) {
        const { reply, ended } = assemble(decodeAll(dialects[to], dataOf(encodeAll(dialects[to], told, frameOf(to)))))
        const said = (type: ReplyPart['type'], from: readonly ReplyPart[]) =>
          from.flatMap((part) => (part.type === type && 'text' in part ? [part.text ?? ''] : [])).join('')
        const calls = (from: readonly ReplyPart[]) => from.filter(({ type }) => type === 'tool-call')
        const got = reply.choices[0]?.parts ?? []
        expect([to, ended]).toEqual([to, true])
        expect([to, said('text', got) + said('refusal', got)]).toEqual([
          to,
          said('text', parts) + said('refusal', parts),
        ])
        expect([to, calls(got)]).toMatchObject([to, calls(parts)])
      }
    })
    test(`is counted for the charge if the stream is passed on unchanged: ${title}`, () => {
      const meter = new DecodingMeter(responses, 'seed')
      for (const each of data) meter.feed(each)
      const whole = decodeAll(responses, [JSON.stringify(completed())])
      expect(whole.at(-1)?.type).toBe('end')
      for (const part of parts) {
        const text = part.type === 'tool-call' ? part.input : 'text' in part ? (part.text ?? '') : ''
        expect(meter.output()).toContain(text)
        expect(meter.output().split(text)).toHaveLength(
          parts.filter((each) => JSON.stringify(each).includes(JSON.stringify(text))).length + 1,
        )
      }
      expect(meter.pieces).toBeGreaterThan(0)
    })
  }

  test('is also sent if it consists of citations and log probabilities for a text that was already sent', () => {
    const annotation = { type: 'url_citation', url: 'https://a.org', title: 'A', start_index: 0, end_index: 5 }
    const logprob = { token: 'Hello', logprob: -0.1, bytes: null, top_logprobs: [] }
    const content = [{ type: 'output_text', text: 'Hello', annotations: [annotation], logprobs: [logprob] }]
    const whole = message('', { content })
    for (const events of [
      [delta('Hello'), completed(whole)],
      [delta('Hello'), event('output_item.done', { item: message('Hello') }), completed(whole)],
      [delta('Hello'), event('content_part.done', { part: content[0] }), completed(whole)],
      [
        delta('Hello', { logprobs: [logprob] }),
        event('output_text.annotation.added', { item_id: 'msg_1', content_index: 0, annotation }),
        event('output_item.done', { item: whole }),
        completed(whole),
      ],
    ]) {
      const told = decodeAll(
        responses,
        [created, ...events].map((each) => JSON.stringify(each)),
      )
      const details = told.flatMap((each) => (each.type === 'detail' ? [each.detail] : []))
      expect(details.flatMap(({ citations = [] }) => citations)).toMatchObject([{ url: 'https://a.org' }])
      expect(details.flatMap(({ logprobs = [] }) => logprobs)).toEqual([logprob])
      expect(assemble(told).ended).toBe(true)
    }
  })

  test('is sent once if it is the signature of reasoning', () => {
    const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
    const open = { ...sealed, encrypted_content: undefined }
    for (const events of [
      [completed(sealed)],
      [event('output_item.added', { item: open }), completed(sealed)],
      [event('output_item.done', { item: open }), completed(sealed)],
      [event('output_item.added', { item: open }), event('output_item.done', { item: sealed }), completed(sealed)],
    ]) {
      const told = decodeAll(
        responses,
        [created, ...events].map((each) => JSON.stringify(each)),
      )
      const details = told.flatMap((each) => (each.type === 'detail' && each.detail.seal ? [each.detail.seal] : []))
      expect(details).toEqual([{ from: 'openai-responses', value: 'gAAAA' }])
      expect(assemble(told).ended).toBe(true)
    }
  })

  test('ends the stream with an error if it contradicts the part of a call’s input that was already sent', () => {
    const events = [
      created,
      event('output_item.added', { item: call('') }),
      argumentsDelta('{"path":"/et'),
      event('output_item.done', { item: call(input) }),
      completed(call(input)),
    ]
    const told = decodeAll(
      responses,
      events.map((each) => JSON.stringify(each)),
    )
    expect(told.at(-1)).toMatchObject({ type: 'error', failure: { code: 'upstream_stream_error' } })
  })

  test('is not sent as a second input if it differs only in whitespace', () => {
    const events = [
      created,
      event('output_item.added', { item: call('') }),
      argumentsDelta('{ "path": "/tmp" }'),
      event('output_item.done', { item: call(input) }),
      completed(call(input)),
    ]
    const { reply, ended } = assemble(
      decodeAll(
        responses,
        events.map((each) => JSON.stringify(each)),
      ),
    )
    expect(ended).toBe(true)
    expect(reply.choices[0]?.parts).toMatchObject([{ input: '{ "path": "/tmp" }' }])
  })
})

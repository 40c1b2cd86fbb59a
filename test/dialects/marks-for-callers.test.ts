import { describe, expect, test } from 'bun:test'
import type { StreamEvent } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, dataOf, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

const call = (id: string) => ({ type: 'tool-call', id, name: 'f', input: '{}' }) as const
/** A reasoning part, a text and two calls of a service that signs nothing. */
const parts = [{ type: 'reasoning', text: 'Hm' }, { type: 'text', text: 'Hello' }, call('a'), call('b')] as const
const events: StreamEvent[] = [
  { type: 'start' },
  ...parts.flatMap((part, index): StreamEvent[] => [
    { type: 'part', choice: 0, index, part },
    { type: 'part-end', choice: 0, index },
  ]),
  { type: 'stop', choice: 0, stop: { reason: 'tool-calls' } },
  { type: 'end' },
]
const { reply } = assemble(events)
const streamed = (name: keyof typeof dialects, frame: ReturnType<typeof frameOf>) =>
  dataOf(encodeAll(dialects[name], events, frame)).map((data) => JSON.parse(data) as JsonObject)

describe('a Gemini caller', () => {
  const marks = (all: JsonObject[]) => all.flatMap((part) => ('functionCall' in part ? [part['thoughtSignature']] : []))
  const partsOf = ({ candidates }: JsonObject) =>
    (candidates as JsonObject[]).flatMap(({ content }) => (content as JsonObject)['parts'] as JsonObject[])

  test('gets a signature with the first call even if another service made the call, because Google also sends one', () => {
    const expected = ['skip_thought_signature_validator', undefined]
    expect(marks(partsOf(dialects.gemini.encodeReply(reply, frameOf('gemini'))))).toEqual(expected)
    expect(marks(streamed('gemini', frameOf('gemini')).flatMap(partsOf))).toEqual(expected)
  })

  test('sends back a call with the signature that the gateway added, and the gateway ignores the signature', () => {
    const contents = [{ role: 'model', parts: partsOf(dialects.gemini.encodeReply(reply, frameOf('gemini'))) }]
    const [turn] = dialects.gemini.decodeRequest({ contents }, { model: 'm' }).messages
    expect(turn?.parts.every((part) => !('seal' in part))).toBe(true)
  })
})

describe('a caller of the Responses API', () => {
  const asked = { include: ['reasoning.encrypted_content'] }
  const thought = (items: unknown) => (items as JsonObject[]).find(({ type }) => type === 'reasoning')
  const both = (request: JsonObject) => {
    const frame = frameOf('openai-responses', request)
    const whole = dialects['openai-responses'].encodeReply(reply, frame)
    const last = streamed('openai-responses', frame)
    const done = last.find(
      ({ type, item }) => type === 'response.output_item.done' && (item as JsonObject)['type'] === 'reasoning',
    )
    const [end] = last.slice(-1).map(({ response }) => response as JsonObject)
    return [thought(whole['output']), thought(end?.['output']), done?.['item'] as JsonObject]
  }

  test('gets reasoning in encrypted form only if it requested reasoning.encrypted_content', () => {
    for (const item of both(asked)) expect(item?.['encrypted_content']).toBeString()
    for (const item of both({})) expect(item?.['encrypted_content']).toBe(undefined)
  })

  test('sends back a reasoning part, and the gateway decodes the same reasoning from it', () => {
    const [item = {}] = both(asked)
    const { messages } = dialects['openai-responses'].decodeRequest({ model: 'm', input: [item] })
    expect(messages[0]?.parts).toMatchObject([{ type: 'reasoning', text: 'Hm' }])
    expect(messages[0]?.parts[0]).not.toHaveProperty('seal')
  })
})

test('a Messages stream begins with the estimated prompt tokens if the service has reported no usage yet', () => {
  const frame = { ...frameOf('anthropic-messages'), promptTokens: 123 }
  const [start = {}] = streamed('anthropic-messages', frame)
  expect((start['message'] as JsonObject)['usage']).toMatchObject({ input_tokens: 123, output_tokens: 0 })
  const told: StreamEvent[] = [{ type: 'start', usage: { promptTokens: 7, completionTokens: 1 } }, ...events.slice(1)]
  const [first = {}] = dataOf(encodeAll(dialects['anthropic-messages'], told, frame)).map(
    (data) => JSON.parse(data) as JsonObject,
  )
  expect((first['message'] as JsonObject)['usage']).toMatchObject({ input_tokens: 7 })
})

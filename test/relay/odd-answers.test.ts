// Irregular answers of services that use OpenAI's chat dialect, and what callers of other dialects get.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { behaviour } from '../helpers/fake-upstream.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  await rig.channel({ type: 44 })
})

/** Sets a service's answer: `message` is sent if the call is not streamed, and `pieces` in one chunk each if it is. */
function answers(message: JsonObject, rest: JsonObject, pieces: readonly JsonObject[] = [message]): void {
  rig.upstream.always(
    behaviour('answers', async (exchange) => {
      const common = { id: 'c', object: 'chat.completion', created: 1, model: 'up' }
      const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
      if (exchange.request.fields['stream'] !== true) {
        await sendJson(exchange, 200, {
          ...common,
          choices: [{ index: 0, message: { role: 'assistant', ...message }, ...rest }],
          usage,
        })
        return
      }
      exchange.head(200, [['content-type', 'text/event-stream']])
      const chunks = [
        ...pieces.map((delta) => ({ ...common, choices: [{ index: 0, delta, finish_reason: null }] })),
        { ...common, choices: [{ index: 0, delta: {}, ...rest }], usage },
      ]
      for (const chunk of chunks) await exchange.write(`data: ${JSON.stringify(chunk)}\n\n`)
      await exchange.write('data: [DONE]\n\n')
      exchange.end()
    }),
  )
}

async function ask(path: string, body: JsonObject): Promise<string> {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post(path, { model: 'm', ...body }, caller.token))
  expect([seen.status, seen.text]).toEqual([200, seen.text])
  return seen.text
}
const toMessages = (stream: boolean) =>
  ask('/v1/messages', { stream, max_tokens: 99, stop_sequences: ['END'], messages: [{ role: 'user', content: 'Hi' }] })
const toResponses = (stream: boolean) => ask('/v1/responses', { stream, input: 'Hi' })

describe.each([false, true])('streamed: %p', (stream) => {
  test.each(['stop_reason', 'matched_stop'])('a stop sequence reported by %s is passed on', async (member) => {
    answers({ content: 'Hello' }, { finish_reason: 'stop', [member]: 'END' })
    const text = await toMessages(stream)
    expect(text).toContain('"stop_reason":"stop_sequence"')
    expect(text).toContain('"stop_sequence":"END"')
    answers({ content: 'Hello' }, { finish_reason: 'stop', [member]: 151_645 })
    expect(await toMessages(stream)).toContain('"stop_reason":"end_turn"')
  })

  test('a finish reason for tool calls is ignored if there are no calls', async () => {
    answers({ content: 'Hello' }, { finish_reason: 'tool_calls' })
    expect(await toMessages(stream)).toContain('"stop_reason":"end_turn"')
    expect(await toResponses(stream)).toContain('"status":"completed"')
  })

  const call = (input: string) => ({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: input } })
  test.each(['null', ' ', '\n', '', ' null\n'])('the input %p of a call becomes an empty object', async (input) => {
    const begun = { tool_calls: [call('')] }
    const more = [...input].map((letter) => ({ tool_calls: [{ index: 0, function: { arguments: letter } }] }))
    answers({ content: null, tool_calls: [call(input)] }, { finish_reason: 'tool_calls' }, [begun, ...more])
    const told = await toMessages(stream)
    expect(told).toContain('"stop_reason":"tool_use"')
    expect(told).toMatch(/"name":"f","input":\{\}/)
    expect(told).not.toMatch(/"partial_json":"(?!\{\})/)
    const items = await toResponses(stream)
    expect(items).toMatch(/"arguments":"\{\}"/)
    expect(items).not.toContain('null\\n')
  })

  test('an input that begins with white space or null is passed on completely', async () => {
    const pieces = ['\n', '{"n', 'ull":1}'].map((text) => ({
      tool_calls: [{ index: 0, function: { arguments: text } }],
    }))
    answers({ tool_calls: [call('\n{"null":1}')] }, { finish_reason: 'tool_calls' }, [
      { tool_calls: [call('')] },
      ...pieces,
    ])
    const told = await toMessages(stream)
    const streamed = [...told.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '""']) => JSON.parse(text) as string,
    )
    const input: unknown = stream
      ? JSON.parse(streamed.join(''))
      : (JSON.parse(told) as { content: JsonObject[] }).content[0]?.['input']
    expect(input).toEqual({ null: 1 })
  })
})

test('audio is not treated as text, either before or after its transcript', async () => {
  const pieces = [
    { audio: { id: 'x', data: 'AAAA' } },
    { audio: { transcript: 'Hel' } },
    { audio: { data: 'BBBB' } },
    { audio: { transcript: 'lo' } },
    { audio: { data: 'CCCC' } },
  ]
  answers({}, { finish_reason: 'stop' }, pieces)
  for (const text of [await toResponses(true), await toMessages(true)]) {
    expect(text).not.toMatch(/AAAA|BBBB|CCCC/)
    expect(text).toContain('Hel')
  }
  expect(await toResponses(true)).toContain('"text":"Hello"')
})

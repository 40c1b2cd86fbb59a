// How streams end for callers of the Responses API, and what they report about their usage.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import { messagesFake } from '../matrix/support/fakes/anthropic.ts'
import { responsesFake } from '../matrix/support/fakes/openai.ts'
import { chargedUnits, eventsOf, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

const said = { thought: '', text: 'The sky is blue.', calls: [] }

/** An upstream that sends these parts of a stream and then ends. */
const sends = (pieces: readonly (string | Uint8Array)[]): Behaviour =>
  behaviour('sends a part', async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    for (const piece of pieces) if (!(await exchange.write(piece))) return
    exchange.end()
  })

async function stream(path: string, body: JsonObject) {
  const caller = await rig.caller()
  const { text } = await see(rig.gateway.post(path, { model: 'm', stream: true, ...body }, caller.token))
  const events = eventsOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as JsonObject)
  return { caller, events }
}
const respond = () => stream('/v1/responses', { input: 'What colour is the sky?' })

describe.each([
  ['that comes from a service of the same dialect', 1, responsesFake],
  ['that comes from a service of another dialect', 14, messagesFake],
] as const)('a stream %s', (_title, type, fake) => {
  test('ends with response.failed and continues the sequence numbers if it breaks off', async () => {
    await rig.channel({ type })
    const pieces = fake.pieces(said)
    rig.upstream.always(sends(pieces.slice(0, pieces.length - 3)))
    const { events } = await respond()
    const numbers = events.map(({ sequence_number }) => Number(sequence_number))
    expect(numbers).toEqual(numbers.map((_, at) => at))
    const last = events.at(-1)
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { object: 'response', status: 'failed', error: { code: expect.stringMatching(/^upstream_/) } },
    })
    const [created] = events
    const names = ({ id, model }: JsonObject) => ({ id, model })
    expect(names(last?.['response'] as JsonObject)).toEqual(names(created?.['response'] as JsonObject))
  })
})

describe('an upstream that reports no usage', () => {
  /** The same stream with all usage removed. */
  const silent = (pieces: readonly (string | Uint8Array)[]) =>
    pieces.map((piece) =>
      String(piece).replace(/^data: (.*)$/m, (_line, data: string) => {
        const told: unknown = JSON.parse(data, (name, value: unknown) => (name === 'usage' ? undefined : value))
        return `data: ${JSON.stringify(told)}`
      }),
    )
  const asked = 'What colour is the sky?'

  test.each([
    ['the Responses API', '/v1/responses', { input: asked }, 'input_tokens', 'output_tokens'],
    [
      'chat',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: asked }], stream_options: { include_usage: true } },
      'prompt_tokens',
      'completion_tokens',
    ],
  ] as const)(
    'is charged according to an estimate, which callers of %s get at the end of the stream',
    async (_name, path, body, prompt, completion) => {
      await rig.channel({ type: 14 })
      rig.upstream.always(sends(silent(messagesFake.pieces(said))))
      const { caller, events } = await stream(path, body)
      const { rows } = await chargedUnits(rig, caller)
      const [row] = rows
      const usages = events.flatMap(({ usage, response }) =>
        [usage, (response as JsonObject | undefined)?.['usage']].filter(Boolean),
      )
      expect(row?.estimated).toBeTruthy()
      expect(usages.at(-1)).toMatchObject({ [prompt]: row?.prompt_tokens, [completion]: row?.completion_tokens })
      expect(Number(row?.completion_tokens)).toBeGreaterThan(0)
    },
  )

  test('is charged by an estimate, which callers of the Messages API get at the beginning and at the end of the stream', async () => {
    await rig.channel({ type: 1, models: 'gpt-5.1-codex' })
    await rig.gateway.setOption('ModelRatio', '{"gpt-5.1-codex":1}')
    rig.upstream.always(sends(silent(responsesFake.pieces(said))))
    const { caller, events } = await stream('/v1/messages', {
      model: 'gpt-5.1-codex',
      max_tokens: 99,
      messages: [{ role: 'user', content: asked }],
    })
    const { rows } = await chargedUnits(rig, caller)
    const [start = {}] = events
    expect(Number(((start['message'] as JsonObject)['usage'] as JsonObject)['input_tokens'])).toBeGreaterThan(0)
    const delta = events.find(({ type }) => type === 'message_delta')
    expect(delta?.['usage']).toMatchObject({
      input_tokens: rows[0]?.prompt_tokens,
      output_tokens: rows[0]?.completion_tokens,
    })
  })
})

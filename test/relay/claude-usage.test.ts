// What Anthropic bills beyond the totals in its usage: steps that only `iterations` reports, and the region in
// `inference_geo`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendBody, sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Caller, charged, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  const settings = { ModelRatio: '{"claude":1,"m":1}', CompletionRatio: '{"claude":1,"m":1}' }
  rig = await startRelayRig({ channels: false, settings })
  await rig.channel({ type: 14, models: 'claude,claude-opus-5-5' })
  await rig.channel()
})
afterAll(() => rig[Symbol.asyncDispose]())

const path = '/v1/messages'
const ask = { model: 'claude', max_tokens: 5000, messages: [{ role: 'user', content: 'Hi' }] }
const compacting = { context_management: { edits: [{ type: 'compact_20260112' }] } }

interface Told {
  input_tokens: number
  output_tokens: number
  [name: string]: unknown
}

const messageOf = (usage: Told) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [
    { type: 'compaction', content: 'The story so far.' },
    { type: 'text', text: 'Hello.' },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})

/** The first event contains only the totals of the prompt. The last event contains `iterations`. */
const eventsOf = ({ iterations, ...usage }: Told) => [
  {
    type: 'message_start',
    message: { ...messageOf({ ...usage, output_tokens: 1 }), content: [], stop_reason: null },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
  { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: 'The story so far.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: usage.output_tokens, ...(iterations !== undefined && { iterations }) },
  },
  { type: 'message_stop' },
]

async function call(fields: object, usage: Told, stream: boolean, caller?: Caller) {
  const who = caller ?? (await rig.caller())
  rig.upstream.next(
    fake.behaviour('message', (exchange) => {
      if (!stream) return sendJson(exchange, 200, messageOf(usage))
      const text = eventsOf(usage).map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
      return sendBody(exchange, 200, text.join(''), [['content-type', 'text/event-stream']])
    }),
  )
  const seen = await see(rig.gateway.post(path, { ...ask, ...fields, stream }, who.token))
  expect({ status: seen.status, text: seen.status === 200 ? '' : seen.text }).toEqual({ status: 200, text: '' })
  return who
}

const step = (type: string, input: number, output: number, rest = {}) => ({
  type,
  input_tokens: input,
  output_tokens: output,
  ...rest,
})

describe.each([
  ['whole', false],
  ['streamed', true],
])('a %s answer with several steps', (_, stream) => {
  test('is charged for a compaction that read the whole prompt, although the totals do not include it', async () => {
    const content = 'word '.repeat(180_000)
    const iterations = [step('compaction', 180_000, 3500), step('message', 23_000, 1000)]
    const caller = await call(
      { ...compacting, messages: [{ role: 'user', content }] },
      { input_tokens: 23_000, output_tokens: 1000, iterations },
      stream,
    )
    const [row] = await charged(rig, caller, 207_500)
    expect(row).toMatchObject({ estimated: 0, prompt_tokens: 203_000, completion_tokens: 4500 })
    expect(row?.content).not.toContain('refused')
  })

  test('is charged for what each step read from the cache and wrote to it', async () => {
    const cache = { cache_read_input_tokens: 2000, cache_creation_input_tokens: 400 }
    const kept = { cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 100 } }
    const iterations = [
      step('compaction', 500, 50, { cache_read_input_tokens: 1000, cache_creation_input_tokens: 0 }),
      step('message', 100, 40, { ...cache, ...kept }),
    ]
    const totals = { input_tokens: 100, output_tokens: 40, ...cache, ...kept }
    const caller = await call({ ...compacting, model: 'claude-opus-5-5' }, { ...totals, iterations }, stream)
    // In $ per million tokens: 4 for input, 0.2 for cache reads, 5 and 8 for cache writes, 20 for output.
    const [row] = await charged(rig, caller, (600 * 4 + 3000 * 0.2 + 300 * 5 + 100 * 8 + 90 * 20) / 2)
    expect(row).toMatchObject({ prompt_tokens: 600 + 3000 + 400, cached_tokens: 3000, completion_tokens: 90 })
  })

  const [first, second] = [step('message', 60, 10), step('message', 40, 30)]
  test.each<[string, unknown]>([
    ['the sum of the steps equals the totals', [first, second]],
    ['the sum of the steps is less than the totals', [first]],
    ['no steps are reported', []],
    ['the list of steps is null', null],
    ['the steps are not a list', { ...first }],
    ['one entry is not a step', [first, second, 'message', second]],
    ['a count of one step is negative', [first, second, step('message', -5, 10), second]],
    ['a count of one step is missing', [first, second, { type: 'message', input_tokens: 900 }]],
  ])('is charged according to the totals if %s', async (_name, iterations) => {
    await charged(rig, await call({}, { input_tokens: 100, output_tokens: 40, iterations }, stream), 140)
  })
})

const usage = { input_tokens: 10, output_tokens: 50 }

describe.each([
  ['whole', false],
  ['streamed', true],
])('the region of a %s answer is charged according to', (_, stream) => {
  test.each<[string, object, object, number, string]>([
    ['the region that the answer names', { inference_geo: 'us' }, { inference_geo: 'us' }, 66, '× 1.1'],
    ['a region that the answer names although none was requested', {}, { inference_geo: 'us' }, 66, '× 1.1'],
    ['the requested region if the answer names none', { inference_geo: 'us' }, {}, 66, '× 1.1'],
    [
      'the default region that the answer names instead of the requested one',
      { inference_geo: 'us' },
      { inference_geo: 'global' },
      60,
      '',
    ],
    [
      'the usual price if the answer reports its region as not available',
      {},
      { inference_geo: 'not_available' },
      60,
      '',
    ],
    [
      'the usual price if the answer names an unknown region that was not requested',
      {},
      { inference_geo: 'eu' },
      60,
      '',
    ],
    ['the default region', { inference_geo: 'global' }, { inference_geo: 'global' }, 60, ''],
    [
      'the ratios of the named region and the named speed',
      { speed: 'fast' },
      { speed: 'fast', inference_geo: 'us' },
      132,
      '× 2.2',
    ],
    [
      'the ratios of the requested region and speed if the answer names neither',
      { speed: 'fast', inference_geo: 'us' },
      {},
      132,
      '× 2.2',
    ],
    ['the named region and the requested speed', { speed: 'fast' }, { inference_geo: 'us' }, 132, '× 2.2'],
    [
      'the requested region and the named speed',
      { speed: 'fast', inference_geo: 'us' },
      { speed: 'standard' },
      66,
      '× 1.1',
    ],
    [
      'only the speed if the answer names the default region',
      { speed: 'fast', inference_geo: 'us' },
      { inference_geo: 'global' },
      120,
      '× 2',
    ],
  ])('%s', async (_name, fields, named, units, content) => {
    const [row] = await charged(rig, await call(fields, { ...usage, ...named }, stream), units)
    if (content === '') expect(row?.content).not.toContain('tier')
    else expect(row?.content).toEndWith(`service tier ${content}`)
  })
})

test.each<[object, number]>([
  [{ inference_geo: 'us' }, 1.1],
  [{ inference_geo: 'us', speed: 'fast' }, 2.2],
  [{ inference_geo: 'global' }, 1],
])('the hold uses the region that was requested: %p', async (fields, times) => {
  const amount = await whileHeld(rig, await rig.caller(), path, { ...ask, ...fields }, (held) => held)
  expect(amount).toBeGreaterThan(5000 * times)
  expect(amount).toBeLessThanOrEqual(5020 * times)
})

test('a region without a ratio is refused until the ratio is set', async () => {
  const caller = await rig.caller()
  const before = rig.upstream.requests.length
  const seen = await see(rig.gateway.post(path, { ...ask, inference_geo: 'eu' }, caller.token))
  expect({ status: seen.status, message: seen.error?.message }).toEqual({
    status: 400,
    message: expect.stringContaining('service tier geo-eu has no price'),
  })
  expect(rig.upstream.requests.length).toBe(before)
  await charged(rig, caller, 0)
  await rig.gateway.setOption('ServiceTierRatio', '{"geo-us":1.1,"fast":2,"geo-eu:claude":1.5}')
  await charged(rig, await call({ inference_geo: 'eu' }, { ...usage, inference_geo: 'eu' }, false), 90)
})

test('if the translation has no field for the region, the region is neither requested nor charged', async () => {
  for (const named of [{}, { service_tier: 'default' }]) {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('completion', (exchange) =>
        sendJson(exchange, 200, {
          id: 'c',
          object: 'chat.completion',
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 },
          ...named,
        }),
      ),
    )
    const seen = await see(rig.gateway.post(path, { ...ask, model: 'm', inference_geo: 'us' }, caller.token))
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.fields['inference_geo']).toBeUndefined()
    const [row] = await charged(rig, caller, 60)
    expect(row?.content).not.toContain('service tier')
  }
})

test('the region of an answer is not reported as a service tier to callers of another dialect', async () => {
  const caller = await rig.caller()
  rig.upstream.next(
    fake.behaviour('message', (exchange) => sendJson(exchange, 200, messageOf({ ...usage, inference_geo: 'us' }))),
  )
  const { max_tokens: _, ...chat } = ask
  const seen = await see(rig.gateway.post('/v1/chat/completions', chat, caller.token))
  expect(seen.status).toBe(200)
  expect(JSON.parse(seen.text)).not.toHaveProperty('service_tier')
  await charged(rig, caller, 66)
})

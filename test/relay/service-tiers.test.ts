// Service tiers cost more or less than usual: the charge is based on the tier that the answer reports, and the hold on
// the requested tier.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendBody, sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, expectError, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  const ratios = { priority: 2, flex: 0.5, fast: 6, 'priority:m2': 3, 'flex(14)': 1 }
  rig = await startRelayRig({ channels: false, settings: { ServiceTierRatio: JSON.stringify(ratios) } })
  await rig.channel({ models: 'm,m2' })
  await rig.channel({ type: 14, models: 'claude' })
  await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":1,"claude":1}')
  await rig.gateway.setOption('CompletionRatio', '{"m":1,"m2":1,"claude":1}')
})
afterAll(() => rig[Symbol.asyncDispose]())

const openAiUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }

/** An answer in each dialect. `named` is the tier that the answer reports. */
const answers = {
  chat: (named: object) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: openAiUsage,
    ...named,
  }),
  responses: (named: object) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    ...named,
  }),
  messages: (named: object) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hello.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5, ...named },
  }),
}
const asks = {
  chat,
  responses: { model: 'm', input: 'Hi' },
  messages: { model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
}

type Dialect = keyof typeof paths

async function call(dialect: Dialect, fields: object, answer: fake.Behaviour) {
  const caller = await rig.caller()
  rig.upstream.next(answer)
  const seen = await see(rig.gateway.post(paths[dialect], { ...asks[dialect], ...fields }, caller.token))
  expect({ status: seen.status, text: seen.status === 200 ? '' : seen.text }).toEqual({ status: 200, text: '' })
  return caller
}

const whole = (body: object) => fake.behaviour('whole', (exchange) => sendJson(exchange, 200, body))

/** Server-sent events. The event names are included if the dialect has them. */
const events = (list: readonly object[], last = '') =>
  fake.behaviour('events', (exchange) => {
    const text = list.map((each) => {
      const name = 'type' in each ? `event: ${String(each.type)}\n` : ''
      return `${name}data: ${JSON.stringify(each)}\n\n`
    })
    return sendBody(exchange, 200, text.join('') + last, [['content-type', 'text/event-stream']])
  })

describe('a non-streamed answer is charged according to', () => {
  test.each<[string, Dialect, object, object, number, string]>([
    ['the tier that it names', 'chat', { service_tier: 'priority' }, { service_tier: 'priority' }, 30, '× 2'],
    [
      'the default tier that it names instead of the requested one',
      'chat',
      { service_tier: 'priority' },
      { service_tier: 'default' },
      15,
      '',
    ],
    ['the more expensive requested tier if it names none', 'chat', { service_tier: 'priority' }, {}, 30, '× 2'],
    [
      'the ratio that the model has for the tier',
      'chat',
      { model: 'm2', service_tier: 'priority' },
      { service_tier: 'priority' },
      45,
      '× 3',
    ],
    ['a cheaper tier that it names', 'chat', { service_tier: 'flex' }, { service_tier: 'flex' }, 8, '× 0.5'],
    ['the usual price if it does not name the requested cheaper tier', 'chat', { service_tier: 'flex' }, {}, 15, ''],
    [
      'a tier that it names although the caller did not request it',
      'chat',
      { service_tier: 'auto' },
      { service_tier: 'priority' },
      30,
      '× 2',
    ],
    ['the usual price if it names an unknown tier', 'chat', {}, { service_tier: 'scale' }, 15, ''],
    ['the usual price', 'chat', { service_tier: 'default' }, { service_tier: 'default' }, 15, ''],
    [
      'the tier that a Responses answer names',
      'responses',
      { service_tier: 'priority' },
      { service_tier: 'priority' },
      30,
      '× 2',
    ],
    [
      'the default tier that a Responses answer names',
      'responses',
      { service_tier: 'priority' },
      { service_tier: 'default' },
      15,
      '',
    ],
    ['the speed that a Messages answer names', 'messages', { speed: 'fast' }, { speed: 'fast' }, 90, '× 6'],
    ['the standard speed that a Messages answer names', 'messages', { speed: 'fast' }, { speed: 'standard' }, 15, ''],
    ['the requested speed if a Messages answer names none', 'messages', { speed: 'fast' }, {}, 90, '× 6'],
    [
      'the usual price if a Messages answer names a service tier',
      'messages',
      { service_tier: 'standard_only' },
      { service_tier: 'priority' },
      15,
      '',
    ],
  ])('%s', async (_, dialect, fields, named, units, content) => {
    const caller = await call(dialect, fields, whole(answers[dialect](named)))
    const [row] = await charged(rig, caller, units)
    if (content === '') expect(row?.content).not.toContain('tier')
    else expect(row?.content).toEndWith(`service tier ${content}`)
  })
})

test('if the translation has no field for the tier, the tier is neither requested nor charged', async () => {
  const asked = { model: 'claude', service_tier: 'priority', messages: [{ role: 'user', content: 'Hi' }] }
  for (const stream of [false, true]) {
    const caller = await rig.caller()
    const [start, stop] = [
      { type: 'message_start', message: { ...answers.messages({}), content: [], stop_reason: null } },
      { type: 'message_stop' },
    ]
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }
    rig.upstream.next(stream ? events([start, delta, stop]) : whole(answers.messages({})))
    const seen = await see(rig.gateway.post(paths.chat, { ...asked, stream }, caller.token))
    expect(seen.status).toBe(200)
    expect(rig.upstream.last.fields['service_tier']).toBe('auto')
    const [row] = await charged(rig, caller, 15)
    expect(row?.content).not.toContain('service tier')
  }
})

describe('a stream is charged according to', () => {
  test.each<[string, object, number]>([
    ['the tier that it names', { service_tier: 'priority' }, 30],
    ['the default tier that it names instead of the requested one', { service_tier: 'default' }, 15],
    ['the requested tier if it names none', {}, 30],
  ])('%s', async (_, named, units) => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'm', ...named }
    const stream = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage: openAiUsage },
    ]
    const fields = { stream: true, service_tier: 'priority' }
    await charged(rig, await call('chat', fields, events(stream, 'data: [DONE]\n\n')), units)
  })

  test('the tier of its response', async () => {
    const response = answers.responses({ service_tier: 'default' })
    const stream = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      { type: 'response.completed', response: { ...response, service_tier: 'priority' } },
    ]
    await charged(rig, await call('responses', { stream: true, service_tier: 'priority' }, events(stream)), 30)
  })

  test.each([
    ['fast', 90],
    ['standard', 15],
  ])('the speed of its message: %s', async (speed, units) => {
    const message = { ...answers.messages({ speed, output_tokens: 1 }), content: [], stop_reason: null }
    const stream = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]
    await charged(rig, await call('messages', { stream: true, speed: 'fast' }, events(stream)), units)
  })
})

describe('a tier is refused', () => {
  test.each<[string, Dialect, object]>([
    ['without a ratio', 'chat', { service_tier: 'ultrafast' }],
    ['without a ratio, for a response', 'responses', { service_tier: 'ultrafast' }],
    ['without a ratio, for a message', 'messages', { speed: 'ludicrous' }],
  ])('%s', async (_, dialect, fields) => {
    const caller = await rig.caller()
    const before = rig.upstream.requests.length
    const seen = await see(rig.gateway.post(paths[dialect], { ...asks[dialect], ...fields }, caller.token))
    expect(seen.status).toBe(400)
    if (dialect !== 'messages') expectError(seen, 400, 'tier_not_priced')
    expect(rig.upstream.requests.length).toBe(before)
    await charged(rig, caller, 0)
  })

  test('that is duplicated', async () => {
    const caller = await rig.caller()
    const body = `{"service_tier":"priority",${JSON.stringify(chat).slice(1, -1)},"service_tier":"default"}`
    const headers = { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' }
    const seen = await see(fetch(rig.gateway.url + paths.chat, { method: 'POST', body, headers }))
    expectError(seen, 400, 'invalid_field_value')
  })
})

test.each([
  ['priority', 2],
  ['flex', 1],
  ['default', 1],
])('the hold is based on the requested tier if that tier is more expensive: %s', async (tier, times) => {
  const body = { ...chat, max_tokens: 1000, service_tier: tier }
  const amount = await whileHeld(rig, await rig.caller(), paths.chat, body, (held) => held)
  expect(amount).toBeGreaterThan(1000 * times)
  expect(amount).toBeLessThanOrEqual(1020 * times)
})

test('a low balance limits the length of the answer according to the price of the tier', async () => {
  const caller = await rig.caller({ user: 4000 })
  await see(rig.gateway.post(paths.chat, { ...chat, service_tier: 'priority' }, caller.token))
  expect(rig.upstream.last.fields['max_tokens']).toBe(4000 / 2 - 8)
})

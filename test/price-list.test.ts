// The price list must match what calls cost: the same routes, the same prices and the group's ratio.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Price, PriceList } from '../contract/api/price.ts'
import { sendJson } from './helpers/fake-upstream/reply.ts'
import * as fake from './helpers/fake-upstream.ts'
import { type Rig, startRelayRig } from './relay/setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  const options = {
    ModelRatio: '{"own":3,"flux-mine":20,"text-embedding-mine":2}',
    CompletionRatio: '{"own":2}',
    GroupRatio: '{"default":1,"vip":0.8,"kinds":0.5}',
    ModelPrice: '{"by-call":0.02,"dall-e-3":0.05,"gpt-image-1":0.06,"whisper-call":0.01}',
  }
  for (const [key, value] of Object.entries(options)) await rig.gateway.setOption(key, value)
  const both = { group: 'default,vip' }
  await rig.channel({ ...both, models: 'gpt-4o,gpt-4.1,own,by-call,tts-1,whisper-1,dall-e-2,nobody-knows-this' })
  await rig.channel({
    ...both,
    models: 'alias,two-prices',
    model_mapping: '{"alias":"gpt-4o","two-prices":"gpt-4.1"}',
  })
  await rig.channel({ ...both, models: 'two-prices', model_mapping: '{"two-prices":"own"}' })
  await rig.channel({
    group: 'kinds',
    models: 'dall-e-2,dall-e-3,gpt-image-1,flux-mine,tts-1,whisper-1,whisper-call',
  })
  await rig.channel({ group: 'kinds', models: 'text-embedding-mine,half', model_mapping: '{"half":"gpt-4o"}' })
  await rig.channel({ group: 'kinds', models: 'half', model_mapping: '{"half":"nobody-knows-this"}' })
  await rig.channel({ group: 'vip', models: 'gemini-2.5-pro' })
  const off = await rig.channel({ ...both, models: 'switched-off' })
  await rig.gateway.api('PUT', '/api/channel/', { id: off, status: 2 })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Creates a user in a group, with an access token and a relay token. */
async function person(group: string) {
  const access = `access token of ${group} ${Math.random()}`
  const { secrets } = rig.gateway.context.api
  const access_token_hash = secrets.fingerprint(access, 'access-token')
  return { access, ...(await rig.caller(undefined, { user: { group, access_token_hash } })) }
}

async function ask(access: string | undefined, query = '') {
  const headers: Record<string, string> = access === undefined ? {} : { authorization: access }
  const response = await fetch(`${rig.gateway.url}/api/price/${query}`, { headers })
  return {
    status: response.status,
    ...((await response.json()) as { success: boolean; message: string; data: PriceList }),
  }
}

async function listFor(group: string) {
  const { data } = await ask((await person(group)).access)
  const prices = (model: string): Price[] => data.models.find((row) => row.model === model)?.prices ?? []
  return { ...data, names: data.models.map(({ model }) => model), prices }
}

test('a group sees the models that it can call, with prices at its own ratio', async () => {
  const [usual, vip] = [await listFor('default'), await listFor('vip')]
  expect(usual).toMatchObject({ group: 'default', ratio: 1 })
  expect(vip).toMatchObject({ group: 'vip', ratio: 0.8 })
  const common = [
    'alias',
    'by-call',
    'dall-e-2',
    'gpt-4.1',
    'gpt-4o',
    'nobody-knows-this',
    'own',
    'tts-1',
    'two-prices',
    'whisper-1',
  ]
  expect(usual.names).toEqual(common)
  expect(vip.names).toEqual([...common, 'gemini-2.5-pro'].sort())

  // The prices are $2.50 per million input tokens, $10 per million output tokens and $1.25 per million cached tokens. A
  // dollar is 500,000 units.
  const rates = { input: 1_250_000, output: 5_000_000, cached_input: 625_000 }
  expect(usual.prices('gpt-4o')).toEqual([{ unit: 'tokens', rates, tiers: [], call: 0, minimum_seconds: 0 }])
  expect(vip.prices('gpt-4o')[0]?.rates).toEqual({ input: 1_000_000, output: 4_000_000, cached_input: 500_000 })
  expect(usual.prices('alias')).toEqual(usual.prices('gpt-4o'))
  expect(usual.prices('own')[0]?.rates).toEqual({ input: 3_000_000, output: 6_000_000 })
  expect(usual.prices('nobody-knows-this')).toEqual([])
})

test('prices that are not per token name their unit', async () => {
  const { prices } = await listFor('default')
  const priced = (model: string) => {
    const { unit, rates, call } = prices(model)[0] as Price
    return { unit, input: rates.input, output: rates.output, call }
  }
  expect(priced('by-call')).toEqual({ unit: 'tokens', input: 0, output: 0, call: 10_000 })
  expect(priced('tts-1')).toEqual({ unit: 'characters', input: 7_500_000, output: 0, call: 0 })
  // The model costs $0.006 per minute.
  expect(priced('whisper-1')).toEqual({ unit: 'hour', input: 180_000, output: 0, call: 0 })
  // The smallest image costs $0.016.
  expect(priced('dall-e-2')).toEqual({ unit: 'image', input: 8_000, output: 0, call: 0 })
})

test('channels with different costs are listed separately, the cheapest first, and a longer prompt can cost more', async () => {
  const { prices } = await listFor('vip')
  expect(prices('two-prices').map(({ rates }) => rates.input)).toEqual([800_000, 2_400_000])
  const [gemini] = prices('gemini-2.5-pro')
  expect(gemini?.tiers.map(({ above }) => above)).toEqual([200_000])
  expect(gemini?.tiers[0]?.rates.input).toBe((gemini?.rates.input ?? 0) * 2)
})

test('calls cost what the list says', async () => {
  const { prices } = await listFor('vip')
  const usage = { prompt_tokens: 3001, completion_tokens: 507, prompt_tokens_details: { cached_tokens: 1024 } }
  for (const model of ['gpt-4o', 'gpt-4.1', 'own', 'by-call', 'alias']) {
    rig.upstream.always(
      fake.behaviour('usage', (exchange) =>
        sendJson(exchange, 200, {
          id: 'c',
          object: 'chat.completion',
          model,
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
          usage: { ...usage, total_tokens: 3508 },
        }),
      ),
    )
    const { token, userId } = await person('vip')
    const answer = await rig.gateway.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 600 },
      token,
    )
    expect(answer.status).toBe(200)
    await answer.text()
    const [price] = prices(model)
    if (!price) throw new Error(`${model} has no price`)
    const { input, output, cached_input = input } = price.rates
    const exact = price.call + (1977 * input + 1024 * cached_input + 507 * output) / 1e6
    const row = (await rig.gateway.logs()).find((log) => log.user_id === userId)
    expect([model, row?.quota]).toEqual([model, Math.ceil(exact - 1e-6)])
  }
})

/** Makes a call as a user of the group and returns the charge. */
async function charged(group: string, answer: fake.Behaviour, path: string, body: object | FormData): Promise<number> {
  rig.upstream.always(answer)
  const { token, userId } = await person(group)
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } }
  const response = await fetch(rig.gateway.url + path, {
    ...init,
    body: body instanceof FormData ? body : JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 200])
  await response.arrayBuffer()
  return (await rig.gateway.logs()).find((log) => log.user_id === userId)?.quota ?? 0
}

test('images, speech and audio cost what the price list says', async () => {
  const { prices } = await listFor('kinds')
  const first = (model: string) => {
    const [price] = prices(model)
    if (!price) throw new Error(`${model} has no price`)
    return { ...price, input: price.rates.input }
  }
  const units = ['dall-e-2', 'dall-e-3', 'gpt-image-1', 'flux-mine', 'tts-1', 'whisper-1', 'whisper-call']
  expect(units.map((model) => first(model).unit)).toEqual([
    'image',
    'image',
    'image',
    'image',
    'characters',
    'hour',
    'hour',
  ])
  for (const [model, size] of [
    ['dall-e-2', '256x256'],
    ['dall-e-3', '1024x1024'],
    ['gpt-image-1', '1024x1024'],
    ['flux-mine', '512x512'],
  ] as const) {
    const quota = await charged('kinds', fake.okImages(), '/v1/images/generations', { model, size, prompt: 'a cat' })
    expect([model, quota]).toEqual([model, Math.ceil(first(model).input)])
    expect(first(model).call).toBe(0)
  }
  const spoken = 'A sentence that is read out.'
  const speech = await charged('kinds', fake.okSpeech(), '/v1/audio/speech', {
    model: 'tts-1',
    input: spoken,
    voice: 'alloy',
  })
  expect(speech).toBe(Math.ceil((spoken.length * first('tts-1').input) / 1e6))

  const heard = (model: string) => {
    const form = new FormData()
    form.set('model', model)
    form.set('response_format', 'verbose_json')
    form.set('file', new Blob([new Uint8Array(4000)]), 'speech.mp3')
    const answer = fake.behaviour('heard', (exchange) => sendJson(exchange, 200, { text: 'Hi', duration: 90 }))
    return charged('kinds', answer, '/v1/audio/transcriptions', form)
  }
  expect(await heard('whisper-1')).toBe(Math.ceil((90 / 3600) * first('whisper-1').input))
  expect(first('whisper-call')).toMatchObject({ input: 0, call: 2500 })
  expect(await heard('whisper-call')).toBe(2500)
})

test('models without output tokens have no output price; channels without a price are marked, and so are renamed models', async () => {
  const { prices, models } = await listFor('kinds')
  expect(prices('text-embedding-mine')[0]?.rates).toEqual({ input: 1_000_000, output: 0 })
  const row = (model: string) => models.find((each) => each.model === model)
  expect(row('half')).toMatchObject({ unpriced: true, renamed: true })
  expect(prices('half').map(({ rates }) => rates.input)).toEqual([625_000])
  expect(row('dall-e-2')).toMatchObject({ unpriced: false, renamed: false })
})

test('a changed ratio appears in the next list', async () => {
  await rig.gateway.setOption('ModelRatio', '{"own":4}')
  const { prices } = await listFor('default')
  expect(prices('own')[0]?.rates.input).toBe(4_000_000)
})

test('only admins see the prices of other groups, and only logged-in users see the list', async () => {
  const { access } = await person('default')
  expect((await ask(access, '?group=default')).data.ratio).toBe(1)
  const refused = await ask(access, '?group=vip')
  expect(refused).toMatchObject({ success: false, message: expect.stringContaining('Only admins') })
  expect(refused.data).toBeUndefined()
  expect((await ask(undefined)).success).toBe(false)
  const asRoot = await rig.gateway.api<PriceList>('GET', '/api/price/?group=vip')
  expect(asRoot).toMatchObject({ group: 'vip', ratio: 0.8 })
  expect(await rig.gateway.api<PriceList>('GET', '/api/price/?group=nobody')).toEqual({
    group: 'nobody',
    ratio: 1,
    models: [],
  })
})

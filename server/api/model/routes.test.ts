import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ModelFacts, ModelFigures } from '../../../contract/api/model.ts'
import type { Price } from '../../../contract/api/price.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { saveOption } from '../../store/installation/options.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'
import { factsOf } from './model-facts.ts'

const now = 1_700_000_000
const day = 86_400

const price: Price = { unit: 'tokens', rates: { input: 1, output: 2 }, tiers: [], call: 0, minimum_seconds: 0 }
const lists: Record<string, string[]> = {
  default: ['gpt-4o', 'claude-sonnet-4-5', 'made-up-model', 'unpriced-model'],
  vip: ['gemini-2.5-pro'],
}

test('facts are found for names with dates, regions and vendors', () => {
  const sonnet = factsOf('claude-sonnet-4-5')
  expect(sonnet).toMatchObject({ name: 'Claude Sonnet 4.5', context: 200_000, output: 64_000, tools: true })
  expect(sonnet?.reads).toEqual(['text', 'image', 'pdf'])
  const names = ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5', 'us.anthropic.claude-sonnet-4-5-v1:0']
  for (const model of names) expect(factsOf(model)).toMatchObject({ model, context: 200_000 })
  expect(factsOf('made-up-model')).toBeUndefined()
  expect(factsOf('')).toBeUndefined()
  expect(factsOf('__proto__')).toBeUndefined()
})

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let user: Awaited<ReturnType<TestApi['addPerson']>>
  let other: typeof user

  beforeEach(async () => {
    const priceList = (group: string) => ({
      group,
      ratio: 1,
      models: (lists[group] ?? []).map((model) => ({
        model,
        prices: model === 'unpriced-model' ? [] : [price],
        unpriced: model === 'gpt-4o',
        renamed: model === 'gpt-4o',
      })),
    })
    api = await createTestApi(await openFresh(), { priceList })
    user = await api.addPerson({ username: 'user' })
    other = await api.addPerson({ username: 'other' })
  })
  afterEach(() => api.store.close())

  const add = (userId: number, count: number, fields: object = {}) =>
    api.store.write(async (trx) => {
      const row = { quota: 100, ...logRow({ userId, tokenId: 1, channelId: 7 }), is_stream: true, created_at: now - 60 }
      const times = { first_byte_time: 500, elapsed_time: 2500, completion_tokens: 200 }
      await trx
        .insertInto('logs')
        .values(Array.from({ length: count }, () => ({ ...row, ...times, quota: 100, ...fields })))
        .execute()
    })
  const figures = async (): Promise<ModelFigures[]> => {
    api.time.ms += 31_000
    return (await api.call('GET', '/api/model/figures', { as: user.token })).json.data.models
  }

  test('facts are given for the models of the caller’s group; unknown models are absent', async () => {
    const { json, headers } = await api.call('GET', '/api/model/facts', { as: user.token })
    expect(json.data.models.map(({ model }: ModelFacts) => model)).toEqual(['gpt-4o', 'claude-sonnet-4-5'])
    expect(headers.get('cache-control')).toBe('private, no-cache')
    const refused = await api.call('GET', '/api/model/facts?group=vip', { as: user.token })
    expect(refused.json.success).toBe(false)
    const admin = await api.addPerson({ role: 10 })
    const vip = await api.call('GET', '/api/model/facts?group=vip', { as: admin.token })
    expect(vip.json.data.models.map(({ model }: ModelFacts) => model)).toEqual(['gemini-2.5-pro'])
  })

  test('facts that have not changed are not sent again', async () => {
    const { headers } = await api.call('GET', '/api/model/facts', { as: user.token })
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    const again = await api.call('GET', '/api/model/facts', { as: user.token, headers: known })
    expect(again.status).toBe(304)
    // Another person must not learn from the ETag what the first person sees.
    expect((await api.call('GET', '/api/model/facts', { headers: known })).status).toBe(401)
  })

  test('figures are the speed and uptime of everybody’s requests, and the caller’s own spending', async () => {
    await add(user.id, 10)
    await add(other.id, 30)
    await add(other.id, 10, { type: 6, outcome: 'failed', status: 502, quota: 0, is_stream: false, first_byte_time: 0 })
    await add(user.id, 1, { created_at: now - 20 * day, quota: 7 })
    await add(user.id, 1, { created_at: now - 40 * day, quota: 1000 })
    await add(other.id, 20, { model_name: 'only-of-another-group' })
    for (const isCounted of [false, true]) {
      if (isCounted) await rollUpUsage(api.store, now)
      const found = await figures()
      expect(found).toEqual([{ model: 'gpt-4o', first_byte: expect.any(Number), speed: 100, uptime: 80, spent: 1007 }])
      expect(found[0]?.first_byte).toBeWithin(425, 575)
    }
  })

  test('a model without streamed requests has no speed, and a model with few requests has no uptime', async () => {
    await add(user.id, 9, { is_stream: false, first_byte_time: 0 })
    expect(await figures()).toEqual([{ model: 'gpt-4o', first_byte: null, speed: null, uptime: null, spent: 900 }])
  })

  test('visitors see models only if the option is on, and only models of the default group', async () => {
    const refused = await api.call('GET', '/api/model/public')
    expect(refused.status).toBe(404)
    expect(refused.json.data).toBeUndefined()
    expect((await api.call('GET', '/api/model/facts')).status).toBe(401)
    await api.store.write((trx) => saveOption(trx, 'PublicModelsEnabled', 'true'))
    await api.settings.reload()
    const { json, headers } = await api.call('GET', '/api/model/public?group=vip')
    expect(json.data.models).toEqual(
      ['gpt-4o', 'claude-sonnet-4-5', 'made-up-model'].map((model) => ({
        model,
        prices: [price],
        unpriced: false,
        renamed: false,
      })),
    )
    expect(json.data.facts).toHaveLength(2)
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    expect((await api.call('GET', '/api/model/public', { headers: known })).status).toBe(304)
    expect((await api.call('GET', '/api/price/')).status).toBe(401)
  })
})

// What a channel's upstream charges: prices that an admin types or reads from a price list, the cost of each call, and
// who sees it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Overview } from '../../contract/api/overview.ts'
import { rollUpUsage } from '../../server/store/usage/usage-rollup.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { cutsStream, ok } from '../helpers/fake-upstream.ts'
import { startProxy } from '../helpers/proxy-server.ts'
import { type ChannelRig, json, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const question = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const answered = ok({ text: 'Hello', usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } })

forEachDatabaseUrl((_, freshUrl) => {
  const rigOf = async () =>
    startChannelRig(await freshUrl(), { CompletionRatio: '{"m":4}', GroupRatio: '{"default":2}' })
  const set = (rig: ChannelRig, id: number, body: object) =>
    rig.raw('PUT', `/api/channel/${id}/costs`, { multiplier: null, models: {}, ...body })
  const ask = async (rig: ChannelRig, token?: string) => {
    const response = await rig.gateway.post('/v1/chat/completions', question, token)
    await response.text()
    return response.status
  }
  const rows = async (rig: ChannelRig) =>
    (await rig.gateway.logs()).map(({ quota, cost }) => ({ quota, cost: cost === null ? null : Number(cost) }))

  test('the cost of a call follows the multiplier or the prices of its channel, and is empty if neither is known for the model', async () => {
    await using rig = await rigOf()
    rig.upstream.always(answered)
    const id = await rig.channel()
    expect(await ask(rig)).toBe(200)
    await set(rig, id, { multiplier: 0.7 })
    expect(await ask(rig)).toBe(200)
    await set(rig, id, { multiplier: 0.7, models: { m: { input: 1, output: 2 } } })
    expect(await ask(rig)).toBe(200)
    await set(rig, id, { models: { other: { input: 1 } } })
    expect(await ask(rig)).toBe(200)
    // A call costs 1,400 units at ratio 1, and the group pays twice that. Upstream prices of $1 and $2 per million
    // tokens make the cost 500 + 100 units.
    expect(await rows(rig)).toEqual([
      { quota: 2800, cost: null },
      { quota: 2800, cost: 600 },
      { quota: 2800, cost: 980 },
      { quota: 2800, cost: null },
    ])
  })

  test('the cost of streams and of interrupted calls is calculated from the same usage as their price', async () => {
    await using rig = await rigOf()
    rig.upstream.always(answered)
    await set(rig, await rig.channel(), { multiplier: 0.5 })
    const stream = async () => {
      const response = await rig.gateway.post('/v1/chat/completions', { ...question, stream: true })
      await response.text().catch(() => undefined)
    }
    await stream()
    expect(await rows(rig)).toEqual([{ quota: 2800, cost: 700 }])
    rig.upstream.always(cutsStream('fin'))
    await stream()
    await rig.until(async () => (await rows(rig)).length === 2)
    const [cut] = await rows(rig)
    // The group pays twice the list price, and the channel costs half the list price.
    expect(cut?.cost).toBe((cut?.quota ?? 0) / 4)
    expect(cut?.cost).toBeGreaterThan(0)
  })

  test('admins see exact costs and margins in usage, tables, files, statements and logs, and users see them nowhere', async () => {
    await using rig = await rigOf()
    rig.upstream.always(answered)
    const id = await rig.channel()
    const { userId, tokenId, token } = await rig.gateway.addCaller({ user: 1_000_000, token: 1_000_000 })
    expect(tokenId).toBeGreaterThan(0)
    expect(await ask(rig, token)).toBe(200)
    await set(rig, id, { multiplier: 0.7 })
    expect(await ask(rig, token)).toBe(200)
    expect(await ask(rig, token)).toBe(200)
    const expected = { cost: 1960, margin: 3640 }
    const total = async () =>
      (await rig.raw('GET', '/api/usage/?group_by=channel&metric=margin'))['data'] as UsageAnswer
    expect((await total()).total).toMatchObject({ quota: 8400, ...expected })
    await rollUpUsage(rig.gateway.context.store, Math.floor(rig.time.ms / 1000) + 10 * 86_400)
    const usage = await total()
    expect(usage.total).toMatchObject(expected)
    expect(usage.groups[0]).toMatchObject({ key: String(id), total: expected })
    expect(usage.values.reduce((sum, value) => sum + value, 0)).toBe(expected.margin)
    const table = (await rig.raw('GET', '/api/usage/table?by=user&sort=cost'))['data'] as object[]
    expect(table[0]).toMatchObject(expected)
    const file = await text(rig, '/api/usage/export?by=model')
    expect(file).toContain('"cost_usd","margin_usd"')
    expect(file).toContain('0.003920,0.007280')
    const month = new Date(rig.time.ms).toISOString().slice(0, 7)
    const statement = await rig.raw('GET', `/api/user/statement?month=${month}&user_id=${userId}`)
    expect(statement['data']).toMatchObject({ models: [{ model: 'm', ...expected }] })
    const [log] = (await rig.raw('GET', '/api/log/?type=2'))['data'] as object[]
    expect(log).toMatchObject({ cost: 980 })
    expect(await text(rig, '/api/log/export?type=2')).toContain('"cost","channel"')

    const own = await ownCaller(rig, userId)
    const paths = [
      '/api/usage/',
      '/api/usage/table?by=model',
      '/api/usage/export?by=model',
      `/api/user/statement?month=${month}`,
      '/api/log/self/?type=2',
      '/api/log/self/search?keyword=',
      '/api/log/self/export?type=2',
      '/api/overview/self',
      '/api/price/',
      '/api/user/dashboard',
    ]
    for (const path of paths) {
      const body = await own(path)
      expect([path, body.length > 20]).toEqual([path, true])
      expect([path, /"(?:cost|margin)(?:_usd)?"/.test(body)]).toEqual([path, false])
    }
    for (const path of ['/api/usage/?metric=cost', '/api/usage/?metric=margin', '/api/usage/table?sort=margin'])
      expect(await own(path)).toContain('costs_admin_only')
    expect(await own(`/api/channel/${id}/costs`)).not.toContain('multiplier')
  })

  test('a channel that costs more than its calls are charged comes first when sorted by margin, and is listed under "needs attention" in the overview', async () => {
    await using rig = await rigOf()
    rig.upstream.always(answered)
    const good = await rig.channel({ models: 'm' })
    await set(rig, good, { multiplier: 1.5 })
    expect(await ask(rig)).toBe(200)
    await rig.raw('PUT', '/api/channel/', { id: good, status: 2 })
    const bad = await rig.channel({ models: 'm', name: 'bad' })
    await set(rig, bad, { multiplier: 4 })
    const attention = async () => {
      rig.time.ms += 10_000
      const { attention: items } = (await rig.raw('GET', '/api/overview/'))['data'] as Overview
      return items.filter(({ kind }) => kind === 'channel_loss')
    }
    expect(await ask(rig)).toBe(200)
    // A loss of less than a cent is not reported.
    expect(await attention()).toEqual([])
    expect(await ask(rig)).toBe(200)
    for (const isCounted of [false, true]) {
      if (isCounted) await rollUpUsage(rig.gateway.context.store, Math.floor(rig.time.ms / 1000) + 60)
      const usage = (await rig.raw('GET', '/api/usage/?group_by=channel&metric=margin&top=1'))['data'] as UsageAnswer
      expect(usage.groups[0]).toMatchObject({ key: String(bad), total: { cost: 11_200, margin: -5600 } })
      expect(usage.total).toMatchObject({ margin: 700 - 5600 })
      const target = { type: 'channel', id: bad, name: 'bad' }
      expect(await attention()).toMatchObject([{ target, amount: 5600, limit: 5600, act: 'open_channel' }])
    }
  })

  test('if no costs are known, responses contain no cost fields', async () => {
    await using rig = await rigOf()
    rig.upstream.always(answered)
    await rig.channel()
    expect(await ask(rig)).toBe(200)
    const usage = (await rig.raw('GET', '/api/usage/'))['data'] as UsageAnswer
    expect(usage.total).not.toHaveProperty('cost')
    expect(await text(rig, '/api/usage/export?by=model')).not.toContain('cost_usd')
  })

  test('a price list is compared before it is saved, and a price ten times the old one waits for confirmation', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ models: 'm,n,o', model_mapping: '{"o":"sent"}' })
    const row = (model_name: string, model_ratio: number) => ({
      model_name,
      model_ratio,
      quota_type: 0,
      completion_ratio: 2,
    })
    rig.upstream.always(json(200, { data: [row('m', 5), row('n', 0.5), row('sent', 1)], group_ratio: { default: 1 } }))
    await set(rig, id, { models: { m: { input: 1, output: 2 }, n: { input: 0.9, output: 1.8 } } })
    const preview = (body: object) => rig.raw('POST', `/api/channel/${id}/costs/preview`, body)
    const answer = (await preview({ kind: 'gateway' }))['data'] as { url: string; rows: object[] }
    expect(answer.url).toBe(`${rig.upstream.url}/api/pricing`)
    expect(rig.upstream.requests.at(-1)?.headers.get('authorization')).toBeNull()
    expect(answer.rows).toEqual([
      {
        model: 'm',
        change: 'changed',
        old: { input: 1, output: 2 },
        cost: { input: 10, output: 20 },
        usual: null,
        factor: 10,
        held: true,
      },
      expect.objectContaining({ model: 'n', change: 'changed', held: false }),
      {
        model: 'sent',
        change: 'new',
        old: null,
        cost: { input: 2, output: 4 },
        usual: null,
        factor: null,
        held: false,
      },
    ])
    const models = { m: { input: 10, output: 20 }, n: { input: 1, output: 2 }, sent: { input: 2, output: 4 } }
    const source = { kind: 'gateway', url: answer.url }
    const saved = (await set(rig, id, { models, source }))['data'] as { held: string[]; costs: { models: object } }
    expect(saved.held).toEqual(['m'])
    expect(saved.costs.models).toEqual({ ...models, m: { input: 1, output: 2 } })
    const confirmed = (await set(rig, id, { models, source, confirmed: ['m'] }))['data'] as typeof saved
    expect(confirmed).toMatchObject({ held: [], costs: { models } })
    // A price that drops to 0 also waits for confirmation.
    const free = { ...models, m: { input: 0, output: 0 } }
    expect((await set(rig, id, { models: free, source }))['data']).toMatchObject({ held: ['m'] })
    expect(((await rig.raw('GET', `/api/channel/${id}/costs`))['data'] as typeof saved.costs).models).toEqual(models)
  })

  test('a first price from a list is compared with the built-in one, but a typed price is not', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ models: 'gpt-4o,gpt-4o-mini' })
    const row = (model_name: string, model_ratio: number) => ({
      model_name,
      model_ratio,
      quota_type: 0,
      completion_ratio: 4,
    })
    rig.upstream.always(json(200, { data: [row('gpt-4o', 125), row('gpt-4o-mini', 0.05)] }))
    const preview = await rig.raw('POST', `/api/channel/${id}/costs/preview`, { kind: 'gateway' })
    expect(preview['data']).toMatchObject({
      rows: [
        { model: 'gpt-4o', change: 'new', old: null, usual: { input: 2.5, output: 10 }, factor: 100, held: true },
        { model: 'gpt-4o-mini', change: 'new', old: null, usual: null, factor: null, held: false },
      ],
    })
    const models = { 'gpt-4o': { input: 250, output: 1000 }, 'gpt-4o-mini': { input: 0.1, output: 0.4 } }
    const source = { kind: 'gateway', url: '' }
    const first = (await set(rig, id, { models, source }))['data']
    expect(first).toMatchObject({ held: ['gpt-4o'], costs: { models: { 'gpt-4o-mini': { input: 0.1 } } } })
    expect((first as { costs: { models: object } }).costs.models).not.toHaveProperty('gpt-4o')
    expect((await set(rig, id, { models, source, confirmed: ['gpt-4o'] }))['data']).toMatchObject({
      held: [],
      costs: { models },
    })
    await set(rig, id, { models: {} })
    expect((await set(rig, id, { models }))['data']).toMatchObject({ held: [], costs: { models } })
  })

  test('a price list is read through the proxy, and never from a metadata service; anything that is not a list is refused', async () => {
    await using rig = await rigOf()
    await using proxy = await startProxy()
    rig.upstream.always(json(200, { data: [{ id: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }] }))
    const id = await rig.channel({ proxy: proxy.url })
    const preview = (body: object) => rig.raw('POST', `/api/channel/${id}/costs/preview`, body)
    const url = `${rig.upstream.url}/list`
    expect((await preview({ kind: 'openrouter', url }))['data']).toMatchObject({
      rows: [{ model: 'm', cost: { input: 1, output: 2 } }],
    })
    expect(proxy.asked).toEqual([`GET ${url}`])
    for (const metadata of ['http://169.254.169.254/x', 'http://[::ffff:a9fe:a9fe]/'])
      expect((await preview({ kind: 'gateway', url: metadata }))['code']).toBe('price_url_metadata')
    expect((await preview({ kind: 'gateway', url: 'file:///etc/passwd' }))['code']).toBe('price_url_scheme')
    expect((await preview({ kind: 'gateway', url: 'http://a:b@c/' }))['code']).toBe('price_url_userinfo')
    rig.upstream.always(json(200, { secret: 'of the network' }))
    const refused = await preview({ kind: 'gateway', url })
    expect(refused['code']).toBe('costs_no_feed')
    expect(JSON.stringify(refused)).not.toContain('of the network')
  })

  test('invalid costs are refused', async () => {
    await using rig = await rigOf()
    const id = await rig.channel()
    const codeOf = async (models: object) => (await set(rig, id, { models }))['code']
    expect(await codeOf({ m: {} })).toBe('cost_missing')
    expect(await codeOf({ m: { output: 1 } })).toBe('cost_input_missing')
    expect(await codeOf({ m: { input: 1, multiplier: 1 } })).toBe('cost_both')
    expect(await codeOf({ m: { input: 0.0000001 } })).toBe('cost_decimals')
    expect(await codeOf({ '': { input: 1 } })).toBe('cost_model_name')
    for (const input of [-1, 1e9, '1'])
      expect((await set(rig, id, { models: { m: { input } } }))['success']).toBe(false)
    expect((await set(rig, id, { multiplier: -1 }))['success']).toBe(false)
    expect((await rig.raw('GET', `/api/channel/${id}/costs`))['data']).toEqual({
      feed: null,
      multiplier: null,
      models: {},
      source: null,
    })
  })
})

interface UsageAnswer {
  total: object
  groups: object[]
  values: number[]
}

const text = async (rig: ChannelRig, path: string) =>
  (await fetch(rig.gateway.url + path, { headers: { authorization: 'testgatewayaccesstoken' } })).text()

/** Returns a function that reads a path as the user of a caller. */
async function ownCaller(rig: ChannelRig, userId: number): Promise<(path: string) => Promise<string>> {
  const { username } = await rig.gateway.context.store.read
    .selectFrom('users')
    .select('username')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const login = await fetch(`${rig.gateway.url}/api/user/login`, {
    method: 'POST',
    body: JSON.stringify({ username, password: 'password 1' }),
  })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return async (path) => (await fetch(rig.gateway.url + path, { headers: { cookie } })).text()
}

// Prices of channels that are read from lists on a schedule.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { CostsWithFeed } from '../../contract/api/channel-costs.ts'
import type { Overview } from '../../contract/api/overview.ts'
import { createPriceSync } from '../../server/jobs/price-sync.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { redirects } from '../helpers/fake-upstream.ts'
import { type ChannelRig, json, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const hourMs = 3_600_000

forEachDatabaseUrl((_, freshUrl) => {
  const rigOf = async () => startChannelRig(await freshUrl())
  const costs = async (rig: ChannelRig, id: number) =>
    (await rig.raw('GET', `/api/channel/${id}/costs`))['data'] as CostsWithFeed
  const setFeed = (rig: ChannelRig, id: number, feed: object | null) =>
    rig.raw('PUT', `/api/channel/${id}/costs/feed`, { feed })
  const syncOf = ({ gateway: { context }, time }: ChannelRig, warnings: string[] = []) =>
    createPriceSync({
      store: context.store,
      clock: { nowMs: () => time.ms },
      settings: context.api.settings.current,
      prices: context.api.upstreamPrices,
      warn: (message) => warnings.push(message),
    })
  const list = (prices: Record<string, number>) =>
    json(200, {
      data: Object.entries(prices).map(([model_name, dollars]) => ({
        ...{ model_name, quota_type: 0, model_ratio: dollars / 2, completion_ratio: 2 },
      })),
    })
  const acts = async (rig: ChannelRig, id: number) =>
    (
      (await rig.raw('GET', `/api/channel/${id}/timeline`))['data'] as {
        action: string
        detail: string
        kind: string
      }[]
    )
      .filter(({ action }) => action === 'channel.sync-costs')
      .map(({ kind, detail }) => `${kind} ${detail}`)
  const attention = async (rig: ChannelRig) => {
    rig.time.ms += 10_000
    const { attention: items } = (await rig.raw('GET', '/api/overview/'))['data'] as Overview
    return items.filter(({ kind }) => kind.startsWith('price_'))
  }
  const every = { kind: 'gateway', group: '', url: '', every_hours: 24 }

  test('a list is read when it is due, its changes are recorded, and prices that it does not contain stay the same', async () => {
    await using rig = await rigOf()
    const sync = syncOf(rig)
    const id = await rig.channel({ models: 'm,n,o', model_mapping: '{"o":"sent"}' })
    await rig.raw('PUT', `/api/channel/${id}/costs`, {
      multiplier: 0.5,
      models: { m: { input: 1, output: 2 }, old: { input: 3 } },
    })
    rig.upstream.always(list({ m: 1.5, n: 2, other: 9 }))
    await sync.runIfDue()
    expect(rig.upstream.requests).toEqual([])
    expect((await setFeed(rig, id, every))['data']).toMatchObject({ feed: { ...every, checked_at: 0, error: '' } })
    await sync.runIfDue()
    expect(rig.upstream.requests.map(({ path, key }) => [path, key])).toEqual([['/api/pricing', undefined]])
    const first = await costs(rig, id)
    expect(first.models).toEqual({ m: { input: 1.5, output: 3 }, old: { input: 3 }, n: { input: 2, output: 4 } })
    const now = Math.floor(rig.time.ms / 1000)
    expect(first).toMatchObject({
      multiplier: 0.5,
      source: { kind: 'gateway', url: `${rig.upstream.url}/api/pricing`, time: now },
      feed: { checked_at: now, changed_at: now, error: '', held: {} },
    })
    expect(await acts(rig, id)).toEqual(['event m: input 1 → 1.5, output 2 → 3; n: input 2, output 4'])
    rig.time.ms += 23 * hourMs
    await sync.runIfDue()
    expect(rig.upstream.requests.length).toBe(1)
    rig.time.ms += hourMs
    await sync.runIfDue()
    expect(rig.upstream.requests.length).toBe(2)
    // Nothing has changed, so nothing is recorded.
    expect((await acts(rig, id)).length).toBe(1)
    expect((await costs(rig, id)).feed).toMatchObject({ checked_at: now + 24 * 3600, changed_at: now })
    // The relay uses the new cost without a restart.
    const [channel] = rig.gateway.context.relay.relay.routing().channels()
    expect(channel?.costs?.models.get('m')).toEqual({ rates: { input: 1_500_000n, output: 3_000_000n } })
  })

  test('a price that is ten times the old one is held back until an admin decides, and is reported only once', async () => {
    await using rig = await rigOf()
    const sync = syncOf(rig)
    const id = await rig.channel({ models: 'm,n' })
    await rig.raw('PUT', `/api/channel/${id}/costs`, {
      multiplier: null,
      models: { m: { input: 1, output: 2 }, n: { input: 1, output: 2 } },
    })
    rig.upstream.always(list({ m: 10, n: 0 }))
    await setFeed(rig, id, every)
    await sync.runIfDue()
    const held = await costs(rig, id)
    expect(held.models).toEqual({ m: { input: 1, output: 2 }, n: { input: 1, output: 2 } })
    expect(held.feed?.held).toMatchObject({ m: { cost: { input: 10, output: 20 } }, n: { cost: { input: 0 } } })
    expect(await attention(rig)).toMatchObject([{ kind: 'price_held', count: 2, target: { id }, act: 'open_channel' }])
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    expect(await acts(rig, id)).toEqual([
      'event held back m: input 1 → 10, output 2 → 20; held back n: input 1 → 0, output 2 → 0',
    ])
    const decide = (body: object) => rig.raw('POST', `/api/channel/${id}/costs/held`, body)
    expect((await decide({ use: ['other'] }))['code']).toBe('price_not_held')
    const decided = (await decide({ use: ['m'], refuse: ['n'] }))['data'] as CostsWithFeed
    expect(decided.models).toEqual({ m: { input: 10, output: 20 }, n: { input: 1, output: 2 } })
    expect(decided.feed?.held).toEqual({})
    expect(await attention(rig)).toEqual([])
    // A price that the admin refused is not held back again, but a different price is.
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    expect((await costs(rig, id)).feed?.held).toEqual({})
    rig.upstream.always(list({ m: 10, n: 50 }))
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    expect((await costs(rig, id)).feed?.held).toMatchObject({ n: { cost: { input: 50 } } })
    // If the list has a plausible price again, this price is used, and no price is held back.
    rig.upstream.always(list({ m: 10, n: 1.1 }))
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    expect(await costs(rig, id)).toMatchObject({ models: { n: { input: 1.1 } }, feed: { held: {} } })
  })

  test('a first price that is far from the built-in one is held back until an admin decides, but the first price of an unknown model is used', async () => {
    await using rig = await rigOf()
    const sync = syncOf(rig)
    const id = await rig.channel({ models: 'gpt-4o,sent,gpt-4-turbo,house', model_mapping: '{"sent":"gpt-4o-mini"}' })
    // The built-in input and output prices per million tokens are $2.5 and $10 for gpt-4o, $0.15 and $0.6 for
    // gpt-4o-mini, and $10 and $30 for gpt-4-turbo.
    rig.upstream.always(list({ 'gpt-4o': 0.3, 'gpt-4o-mini': 1.5, 'gpt-4-turbo': 0, house: 900 }))
    await setFeed(rig, id, every)
    await sync.runIfDue()
    const first = await costs(rig, id)
    expect(first.models).toEqual({ house: { input: 900, output: 1800 } })
    expect(first.feed?.held).toMatchObject({
      'gpt-4o': { cost: { input: 0.3, output: 0.6 }, usual: { input: 2.5, output: 10 } },
      'gpt-4o-mini': { cost: { input: 1.5, output: 3 }, usual: { input: 0.15, output: 0.6 } },
      'gpt-4-turbo': { cost: { input: 0, output: 0 }, usual: { input: 10, output: 30 } },
    })
    expect(await attention(rig)).toMatchObject([{ kind: 'price_held', count: 3 }])
    const [event] = await acts(rig, id)
    expect(event).toContain('held back gpt-4o: input 2.5 → 0.3, output 10 → 0.6')
    const decided = (
      await rig.raw('POST', `/api/channel/${id}/costs/held`, { use: ['gpt-4-turbo'], refuse: ['gpt-4o'] })
    )['data'] as CostsWithFeed
    expect(decided.models).toEqual({ house: { input: 900, output: 1800 }, 'gpt-4-turbo': { input: 0, output: 0 } })
    // A refused price is not held back again. A plausible price is used, and later prices are compared with that price.
    rig.upstream.always(list({ 'gpt-4o': 0.3, 'gpt-4o-mini': 0.3, 'gpt-4-turbo': 0, house: 900 }))
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    expect(await costs(rig, id)).toMatchObject({
      models: { 'gpt-4o-mini': { input: 0.3, output: 0.6 } },
      feed: { held: {} },
    })
    expect((await costs(rig, id)).models).not.toHaveProperty('gpt-4o')
    rig.upstream.always(list({ 'gpt-4o': 0.6, 'gpt-4o-mini': 2.9 }))
    rig.time.ms += 24 * hourMs
    await sync.runIfDue()
    const again = await costs(rig, id)
    expect(Object.keys(again.feed?.held ?? {})).toEqual([])
    expect(again.models).toMatchObject({ 'gpt-4o': { input: 0.6 }, 'gpt-4o-mini': { input: 2.9 } })
  })

  test('if a list cannot be read, prices stay the same, the error is shown, and the list is read again after an hour', async () => {
    await using rig = await rigOf()
    const sync = syncOf(rig)
    const id = await rig.channel({ models: 'm', key: 'sk-secret-of-the-channel' })
    await rig.raw('PUT', `/api/channel/${id}/costs`, { multiplier: null, models: { m: { input: 1 } } })
    await setFeed(rig, id, every)
    rig.upstream.always(json(500, { error: 'sk-secret-of-the-channel' }))
    await sync.runIfDue()
    const since = Math.floor(rig.time.ms / 1000)
    expect(await costs(rig, id)).toMatchObject({
      models: { m: { input: 1 } },
      feed: { error: 'status code: 500', failed_at: since, changed_at: 0 },
    })
    expect(await attention(rig)).toMatchObject([{ kind: 'price_feed_failed', reason: 'status code: 500', since }])
    await sync.runIfDue()
    expect(rig.upstream.requests.length).toBe(1)
    rig.time.ms += hourMs
    rig.upstream.always(json(200, { page: 'of another kind' }))
    await sync.runIfDue()
    rig.time.ms += hourMs
    await sync.runIfDue()
    rig.time.ms += hourMs
    rig.upstream.always(list({ m: 1 }))
    await sync.runIfDue()
    expect(rig.upstream.requests.length).toBe(4)
    expect((await costs(rig, id)).feed).toMatchObject({ error: '', failed_at: 0 })
    expect(await attention(rig)).toEqual([])
    expect(await acts(rig, id)).toEqual([
      'event m: output 2',
      'event failed: No prices were found in the response. Check the URL, the kind and the group.',
      'event failed: status code: 500',
    ])
    for (const request of rig.upstream.requests) expect(request.headers.get('authorization')).toBeNull()
  })

  test('only one of several nodes reads a list, no list is read for a channel without a feed, and an option switches the schedule off', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ models: 'm' })
    rig.upstream.always(list({ m: 1 }))
    await setFeed(rig, id, every)
    await Promise.all([syncOf(rig), syncOf(rig), syncOf(rig)].map(({ runIfDue }) => runIfDue()))
    expect(rig.upstream.requests.length).toBe(1)
    rig.time.ms += 24 * hourMs
    await rig.gateway.setOption('PriceSyncEnabled', 'false')
    await syncOf(rig).runIfDue()
    expect(rig.upstream.requests.length).toBe(1)
    // An admin can still check the list by hand while the schedule is off.
    const checked = (await rig.raw('POST', `/api/channel/${id}/costs/feed/check`))['data'] as CostsWithFeed
    expect(checked.feed).toMatchObject({ checked_at: Math.floor(rig.time.ms / 1000), error: '' })
    await rig.gateway.setOption('PriceSyncEnabled', 'true')
    await setFeed(rig, id, null)
    rig.time.ms += 24 * hourMs
    await syncOf(rig).runIfDue()
    expect(rig.upstream.requests.length).toBe(2)
    expect(await costs(rig, id)).toMatchObject({ models: { m: { input: 1, output: 2 } }, feed: null })
    expect((await rig.raw('POST', `/api/channel/${id}/costs/feed/check`))['code']).toBe('price_feed_missing')
  })

  test('if a feed is changed while its list is being read, the change is kept and the list is ignored', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ models: 'm' })
    await setFeed(rig, id, every)
    const { context } = rig.gateway
    const sync = createPriceSync({
      ...{ store: context.store, clock: { nowMs: () => rig.time.ms }, settings: context.api.settings.current },
      warn: () => undefined,
      async prices() {
        await setFeed(rig, id, { ...every, kind: 'openrouter' })
        return { ok: true, value: { data: [{ model_name: 'm', quota_type: 0, model_ratio: 1 }] } }
      },
    })
    await sync.runIfDue()
    expect(await costs(rig, id)).toMatchObject({ models: {}, feed: { kind: 'openrouter', checked_at: 0 } })
  })

  test('a feed cannot lead to a metadata service, neither when it is saved nor when it is read, and invalid settings are refused', async () => {
    await using rig = await rigOf()
    const id = await rig.channel({ models: 'm' })
    const codeOf = async (feed: object) => (await setFeed(rig, id, { ...every, ...feed }))['code']
    for (const url of ['http://169.254.169.254/x', 'http://[::ffff:a9fe:a9fe]/', 'http://metadata.google.internal/'])
      expect(await codeOf({ url })).toBe('price_url_metadata')
    expect(await codeOf({ url: 'file:///etc/passwd' })).toBe('price_url_scheme')
    expect(await codeOf({ url: 'http://a:b@c/' })).toBe('price_url_userinfo')
    for (const bad of [{ every_hours: 0 }, { every_hours: 721 }, { every_hours: 1.5 }, { kind: 'manual' }])
      expect((await setFeed(rig, id, { ...every, ...bad }))['success']).toBe(false)
    expect((await costs(rig, id)).feed).toBeNull()
    // A redirect is not followed, so it cannot lead to a metadata service either.
    rig.upstream.always(redirects('http://169.254.169.254/'))
    await setFeed(rig, id, every)
    await syncOf(rig).runIfDue()
    expect((await costs(rig, id)).feed?.error).toBe('status code: 302')
    // A URL of a metadata service that is already in the database is refused when the list is read.
    await rig.gateway.context.store.write((trx) =>
      trx
        .updateTable('channels')
        .set({ price_feed: JSON.stringify({ ...every, ...unread, url: 'http://169.254.169.254/list' }) })
        .where('id', '=', id)
        .execute(),
    )
    await syncOf(rig).runIfDue()
    expect((await costs(rig, id)).feed?.error).toBe('The URL of a price list must not be a cloud metadata service.')
  })
})

/** The state of a feed that has not been read. */
const unread = { checked_at: 0, changed_at: 0, error: '', failed_at: 0, held: {}, refused: {} }

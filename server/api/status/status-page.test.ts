import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { StatusPage } from '../../../contract/api/status-page.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { saveOption } from '../../store/installation/options.ts'
import { purgeLogs } from '../../store/logs/log-purge.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const day = 86_400
const hour = 3600
/** 2023-11-14 22:13:20 UTC. */
const now = 1_700_000_000
const noon = Math.floor(now / day) * day + 12 * hour

const served = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-pro'].map((model) => ({
  model,
  prices: [],
  unpriced: false,
  renamed: false,
}))

forEachDatabase((_, openFresh) => {
  let api: TestApi
  beforeEach(async () => {
    api = await createTestApi(await openFresh(), {
      priceList: (group) => ({ group, ratio: 1, models: group === 'default' ? served : [] }),
    })
  })
  afterEach(() => api.store.close())

  const turnOn = async () => {
    await api.store.write((trx) => saveOption(trx, 'StatusPageEnabled', 'true'))
    await api.settings.reload()
  }
  const add = (model_name: string, created_at: number, count: number, fields: object = {}) =>
    api.store.write(async (trx) => {
      const row = { quota: 0, ...logRow({ userId: 1, tokenId: 1, channelId: 7 }), model_name, created_at, ...fields }
      await trx
        .insertInto('logs')
        .values(Array.from({ length: count }, () => row))
        .execute()
    })
  const failure = { type: 6, outcome: 'failed', status: 503, code: 'no_available_channel' }
  const read = async (): Promise<StatusPage> => {
    api.time.ms += 31_000
    return (await api.call('GET', '/api/status-page')).json.data
  }
  const familyOf = (page: StatusPage, id: string) => page.families.find((family) => family.id === id)

  test('without the option, there is no status page', async () => {
    const { status, json } = await api.call('GET', '/api/status-page')
    expect(status).toBe(404)
    expect(json.success).toBe(false)
    expect((await api.call('GET', '/api/status')).json.data.status_page).toBe(false)
    await turnOn()
    expect((await api.call('GET', '/api/status-page')).status).toBe(200)
    expect((await api.call('GET', '/api/status')).json.data.status_page).toBe(true)
  })

  test('a model family has a state for each of 90 days, the same before and after the rollup', async () => {
    await turnOn()
    await add('gpt-4o', now - 89 * day, 20)
    await add('gpt-4o', now - 2 * day, 95)
    await add('gpt-4o', now - 2 * day, 5, failure)
    await add('gpt-5', now - day, 2)
    await add('gpt-5', now - day, 18, failure)
    await add('gpt-4o', now - 91 * day, 20, failure)
    for (const isCounted of [false, true]) {
      if (isCounted) await rollUpUsage(api.store, now)
      const page = await read()
      expect(page.families.map(({ id }) => id)).toEqual(['openai', 'claude', 'gemini'])
      const openai = familyOf(page, 'openai')
      expect(openai?.days).toHaveLength(90)
      expect(openai?.days[0]).toEqual({ state: 'up', uptime: 100 })
      expect(openai?.days[1]).toEqual({ state: 'none', uptime: null })
      expect(openai?.days.slice(-3)).toEqual([
        { state: 'up', uptime: 95 },
        { state: 'down', uptime: 10 },
        { state: 'none', uptime: null },
      ])
      // 117 of 140 calls were served.
      expect(openai?.uptime).toBe(83.5)
      expect(familyOf(page, 'claude')).toMatchObject({ state: 'none', uptime: null })
      expect(page.first_day).toBe(Math.floor(now / day) * day - 89 * day)
    }
  })

  test('failures are still counted after the log rows of failed calls have been deleted', async () => {
    await turnOn()
    await add('gpt-4o', now - 40 * day, 10)
    await add('gpt-4o', now - 40 * day, 10, failure)
    await rollUpUsage(api.store, now)
    const before = await read()
    await purgeLogs(api.store, { before: now, now })
    const after = await read()
    expect(after.families).toEqual(before.families)
    expect(familyOf(after, 'openai')?.days[49]).toEqual({ state: 'down', uptime: 50 })
  })

  test('invalid requests from callers do not count as failures of the service', async () => {
    await turnOn()
    await add('gpt-4o', now - 60, 20)
    const wrong = [
      { status: 400, code: 'invalid_json' },
      { status: 403, code: 'insufficient_user_quota' },
      { status: 429, code: 'rate_limit_exceeded' },
      { status: 404, code: 'model_not_found' },
      { status: 501, code: 'api_not_implemented' },
    ]
    for (const fields of wrong) await add('gpt-4o', now - 60, 50, { ...failure, ...fields })
    // A model that is not served has no name in the log.
    await add('', now - 60, 500, { ...failure, status: 503 })
    await add('gpt-4o', now - 60, 1, { outcome: 'aborted' })
    const page = await read()
    expect(page.state).toBe('up')
    expect(familyOf(page, 'openai')).toMatchObject({ state: 'up', uptime: 100 })
    expect(page.families.map(({ id }) => id)).toEqual(['openai', 'claude', 'gemini'])
  })

  test("a call counts as failed if the upstream rejects this server's key or limits its rate", async () => {
    await turnOn()
    await add('claude-sonnet-4-5', now - 60, 10)
    const attempts = JSON.stringify([{ channelId: 7, status: 429, error: 'slow down', elapsedMs: 5 }])
    await add('claude-sonnet-4-5', now - 60, 5, { ...failure, status: 429, code: 'rate_limit_exceeded', attempts })
    await add('claude-sonnet-4-5', now - 60, 1, { outcome: 'interrupted' })
    await add('claude-sonnet-4-5', now - 60, 1, { ...failure, left_out: 3 })
    expect(familyOf(await read(), 'claude')).toMatchObject({ state: 'down', uptime: 50 })
  })

  test("hours with errors become today's incidents, as sentences", async () => {
    await turnOn()
    for (const hours of [-3, -2, -1, 0, 9]) await add('claude-sonnet-4-5', noon + hours * hour, 40)
    for (const hours of [-2, -1]) await add('claude-sonnet-4-5', noon + hours * hour, 10, failure)
    await add('gpt-4o', now - 60, 30, failure)
    const page = await read()
    expect(page.incidents).toEqual([
      {
        family: 'OpenAI GPT',
        state: 'down',
        from: Math.floor(now / hour) * hour,
        to: 0,
        text: 'Most requests to OpenAI GPT failed from 22:00 UTC on.',
      },
      {
        family: 'Claude',
        state: 'degraded',
        from: noon - 2 * hour,
        to: noon,
        text: 'Some requests to Claude failed between 10:00 and 12:00 UTC.',
      },
    ])
    expect(familyOf(page, 'claude')?.state).toBe('up')
    expect(page.state).toBe('degraded')
  })

  test('if there were only a few requests in the last hour, the state is that of the day', async () => {
    await turnOn()
    await add('claude-sonnet-4-5', now - 6 * hour, 40)
    await add('claude-sonnet-4-5', now - 60, 1, failure)
    expect(familyOf(await read(), 'claude')?.state).toBe('up')
  })

  test('if there were few requests, the response does not reveal their number', async () => {
    await turnOn()
    await add('gpt-4o', now - 60, 9)
    await add('claude-sonnet-4-5', now - 60, 8)
    await add('claude-sonnet-4-5', now - 60, 1, failure)
    const page = await read()
    expect(familyOf(page, 'openai')).toMatchObject({ state: 'up', uptime: null })
    expect(familyOf(page, 'claude')).toMatchObject({ state: 'none', uptime: null })
  })

  test('no matter how many people look, the database answers one query in 30 seconds', async () => {
    await turnOn()
    const first = await read()
    await add('gpt-4o', now - 60, 30, failure)
    api.time.ms += 29_000
    const all = await Promise.all(Array.from({ length: 20 }, () => api.call('GET', '/api/status-page')))
    for (const { json } of all) expect(json.data).toEqual(first)
    expect((await read()).state).toBe('down')
  })

  test('the response contains no channel, model or user', async () => {
    await turnOn()
    const admin = await api.addPerson({ username: 'secretive-admin', role: 10 })
    const body = { type: 1, name: 'cheap reseller', key: 'k', models: 'gpt-4o,house-special-1', group: 'default' }
    await api.call('POST', '/api/channel/', { as: admin.token, body })
    const who = { username: 'secretive-admin', token_name: 'my token', upstream_message: 'cheap reseller is down' }
    await add('gpt-4o', now - 60, 37, who)
    await add('house-special-1', now - 60, 41, { ...failure, ...who })
    api.time.ms += 31_000
    const text = JSON.stringify((await api.call('GET', '/api/status-page')).json)
    for (const word of ['reseller', 'secretive', 'my token', 'gpt-4o', 'house-special', '37', '41'])
      expect(text).not.toContain(word)
    expect(text).toContain('Other models')
  })
})

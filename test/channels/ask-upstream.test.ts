// What upstreams report about themselves: balances, by channel type, and their models.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import type { Behaviour } from '../helpers/fake-upstream.ts'
import { type ChannelRig, json, startChannelRig } from './setup.ts'

setDefaultTimeout(120_000)

const key = 'sk-secret-key-of-the-upstream'

const deepSeekBalances = [
  { currency: 'USD', total_balance: '3.00' },
  { currency: 'CNY', total_balance: '110.50' },
]

forEachDatabaseUrl((_, freshUrl) => {
  let rig: ChannelRig
  beforeEach(async () => {
    rig = await startChannelRig(await freshUrl())
  })
  afterEach(() => rig[Symbol.asyncDispose]())

  /** Responds to GET requests by their path. */
  const answers = (paths: Record<string, Behaviour>) =>
    rig.upstream.script((request) => paths[request.path] ?? json(404, { error: { message: `no ${request.path}` } }))
  const update = (id: number) => rig.raw('GET', `/api/channel/update_balance/${id}/`)

  test('each type that reports a balance is queried through its own API', async () => {
    rig.time.ms = Date.UTC(2024, 4, 20, 12)
    const bearer = { authorization: `Bearer ${key}` }
    const cases: [type: number, path: string, answer: unknown, balance: number, headers: Record<string, string>][] = [
      [4, '/dashboard/billing/credit_grants', { total_available: 4.5 }, 4.5, bearer],
      [5, '/sb-api/user/status', { data: { credit: '123456' } }, 123_456, {}],
      [10, '/api/report/getUserOverview', { data: { totalPoints: 77.5 } }, 77.5, { 'api-key': key }],
      [12, '/dashboard/billing/credit_grants', { total_remaining: 6 }, 6, bearer],
      [13, '/dashboard/billing/credit_grants', { total_available: 7 }, 7, bearer],
      [20, '/v1/credits', { data: { total_credits: 10, total_usage: 2.5 } }, 7.5, bearer],
      [25, '/v1/users/me/balance', { code: 0, data: { available_balance: 8.25 } }, 8.25, bearer],
      [36, '/user/balance', { is_available: true, balance_infos: deepSeekBalances }, 110.5, bearer],
      [44, '/v1/user/info', { code: 20_000, status: true, data: { totalBalance: '9.75' } }, 9.75, bearer],
    ]
    for (const [type, path, answer, balance, headers] of cases) {
      rig.upstream.clear()
      answers({ [path]: json(200, answer) })
      const id = await rig.channel({ type, key })
      expect([type, await update(id)]).toEqual([type, { success: true, message: '', balance }])
      for (const [name, value] of Object.entries(headers)) {
        expect(rig.upstream.last.headers.get(name)).toBe(value)
      }
      expect(rig.upstream.last.target.includes(key)).toBe(type === 5)
      expect(await rig.shown(id)).toMatchObject({ balance, balance_updated_time: Date.UTC(2024, 4, 20, 12) / 1000 })
    }
  })

  test('an error that a service reports in the body of a 200 response is treated as a failure', async () => {
    answers({ '/v1/user/info': json(200, { code: 20_015, message: 'account locked', data: { totalBalance: '1' } }) })
    const id = await rig.channel({ type: 44, key })
    expect(await update(id)).toMatchObject({ success: false, message: expect.stringContaining('account locked') })
    expect((await rig.shown(id)).balance).toBe(0)
  })

  test('an OpenAI balance is the limit minus the usage of this month, or of the last hundred days for a trial account', async () => {
    rig.time.ms = Date.UTC(2024, 4, 20, 12)
    const usage = '/v1/dashboard/billing/usage'
    for (const [type, paying, from] of [
      [1, true, '2024-05-01'],
      [8, false, '2024-02-10'],
    ] as const) {
      rig.upstream.clear()
      answers({
        '/v1/dashboard/billing/subscription': json(200, { hard_limit_usd: 120, has_payment_method: paying }),
        [usage]: json(200, { total_usage: 2000 }),
      })
      const id = await rig.channel({ type, key, base_url: `${rig.upstream.url}/v1` })
      expect(await update(id)).toEqual({ success: true, message: '', balance: 100 })
      expect(rig.upstream.last.target).toBe(`${usage}?start_date=${from}&end_date=2024-05-20`)
    }
  })

  test('the keys of one channel are queried one by one, and their balances are added', async () => {
    rig.upstream.script((request) =>
      json(200, { total_available: request.headers.get('authorization') === 'Bearer key-1' ? 1 : 10 }),
    )
    const id = await rig.channel({ type: 4, key: 'key-1\nkey-2', key_mode: 'multi' })
    expect(await update(id)).toEqual({ success: true, message: '', balance: 11 })
  })

  test('when the balance is unavailable, the update fails without revealing the key or changing the stored balance', async () => {
    const id = await rig.channel({ type: 5, key })
    answers({ '/sb-api/user/status': json(200, { data: { credit: 5 } }) })
    await update(id)
    for (const [behaviour, words] of [
      [json(401, { error: { message: `bad key ${key}` } }), 'status code: 401'],
      [json(200, { data: { credit: `${key}` } }), 'no balance'],
      [json(200, {}), 'no balance'],
      [json(200, [1]), 'not a JSON object'],
      [json(302, {}), 'status code: 302'],
    ] as const) {
      answers({ '/sb-api/user/status': behaviour })
      const answer = await update(id)
      expect(answer).toEqual({ success: false, message: expect.stringContaining(words), balance: 0 })
      expect(JSON.stringify(answer)).not.toContain(key)
    }
    rig.upstream.failConnections('reset')
    rig.upstream.dropConnections('reset')
    const broken = await update(id)
    expect(broken).toMatchObject({ success: false, message: expect.stringContaining('cannot be reached') })
    expect(JSON.stringify(broken)).not.toContain(key)
    expect(await rig.shown(id)).toMatchObject({ balance: 5 })
    const other = await rig.channel({ type: 2, key })
    expect(await update(other)).toMatchObject({ success: false, message: expect.stringContaining('not available') })
  })

  test('updating all balances covers the enabled channels, and disables an exhausted channel if automatic disabling is on', async () => {
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    rig.upstream.script((request) =>
      request.headers.get('authorization') === 'Bearer broken'
        ? json(500, {})
        : json(200, { total_available: request.headers.get('authorization') === 'Bearer empty' ? 0 : 3 }),
    )
    const full = await rig.channel({ type: 4, key: 'full' })
    const empty = await rig.channel({ type: 4, key: 'empty' })
    const broken = await rig.channel({ type: 4, key: 'broken' })
    const off = await rig.channel({ type: 4, key: 'off' })
    await rig.raw('PUT', '/api/channel/', { id: off, status: 2 })
    await rig.channel({ type: 2, key: 'silent' })
    expect(await rig.raw('GET', '/api/channel/update_balance')).toEqual({ success: true, message: '' })
    expect(await rig.shown(full)).toMatchObject({ balance: 3, status: 1 })
    expect(await rig.shown(empty)).toMatchObject({ balance: 0, status: 3 })
    expect(await rig.shown(broken)).toMatchObject({ balance: 0, status: 1 })
    expect(await rig.shown(off)).toMatchObject({ balance_updated_time: 0, status: 2 })
    expect(rig.upstream.requests).toHaveLength(3)
    await rig.until(() => rig.notices().some((text) => text.includes(`channel ${empty} (test) was disabled`)))
  })

  test('the models of the upstream are listed without duplicates', async () => {
    answers({ '/v1/models': json(200, { object: 'list', data: [{ id: 'b' }, { id: 'a' }, { id: 'b' }, {}, 5] }) })
    const id = await rig.channel({ key })
    expect(await rig.raw('GET', `/api/channel/${id}/upstream_models`)).toEqual({
      success: true,
      message: '',
      data: ['a', 'b'],
    })
    expect(rig.upstream.last.headers.get('authorization')).toBe(`Bearer ${key}`)
    answers({ '/v1/models': json(401, { error: { message: key } }) })
    const refused = await rig.raw('GET', `/api/channel/${id}/upstream_models`)
    expect(refused).toEqual({ success: false, message: 'status code: 401' })
    answers({ '/v1/models': json(200, { models: [] }) })
    expect(await rig.raw('GET', `/api/channel/${id}/upstream_models`)).toMatchObject({ success: false })
    const azure = await rig.channel({ type: 3, key })
    expect(await rig.raw('GET', `/api/channel/${azure}/upstream_models`)).toMatchObject({ success: false })
  })

  test('the error for a channel without a base URL says that the base URL is missing', async () => {
    const id = await rig.channel({ type: 8, base_url: '' })
    for (const path of [`update_balance/${id}`, `${id}/upstream_models`]) {
      expect(await rig.raw('GET', `/api/channel/${path}`)).toMatchObject({
        success: false,
        message: expect.stringContaining('base_url'),
      })
    }
  })
})

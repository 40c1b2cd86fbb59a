import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { UsageRow } from '../../../contract/api/usage-table.ts'
import { addAccount, addSecondToken, logRow } from '../../../test/helpers/accounts.ts'
import type { TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { type Person, withPeople } from '../../../test/helpers/usage-people.ts'
import { addChannelFailures } from '../../store/usage/channel-failures.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const hour = 3600
const day = 24 * hour
/** 2023-11-14 22:13:20 UTC. */
const now = 1_700_000_000
const midnight = now - (now % day)
const at = (text: string) => Date.parse(text) / 1000
/** October 2023 in Berlin. The clocks changed on the 29th. */
const october = `start_timestamp=${at('2023-09-30T22:00:00Z')}&end_timestamp=${at('2023-10-31T22:59:59Z')}&time_zone=Europe/Berlin`

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Person
  let ada: Person
  let bob: Person

  beforeEach(async () => {
    ;({ api, admin, ada, bob } = await withPeople(await openFresh()))
  })
  afterEach(() => api.store.close())

  const row = (who: Person, created_at: number, quota: number, fields: object = {}) => ({
    ...logRow({ userId: who.id, tokenId: who.id * 10, channelId: 1 }),
    username: who.username,
    token_name: 'main',
    created_at,
    quota,
    prompt_tokens: 30,
    completion_tokens: 4,
    cached_tokens: 10,
    ...fields,
  })
  const add = (...rows: ReturnType<typeof row>[]) =>
    api.store.write((trx) => trx.insertInto('logs').values(rows).execute())
  const ask = async (query: string, as = admin) => {
    const { headers, json } = await api.call('GET', `/api/usage/table?${query}`, { as: as.token })
    const { success, message, data } = json as { success: boolean; message: string; data: UsageRow[] }
    return { success, message, data, total: Number(headers.get('x-total-count')) }
  }
  const read = async (query: string, as = admin) => {
    const answer = await ask(query, as)
    expect([query, answer.message]).toEqual([query, ''])
    return answer.data
  }
  const download = async (query: string, as = admin) => {
    const headers = { authorization: as.token }
    const response = await api.app.request(`/api/usage/export?${query}`, { headers }, { socketAddress: '203.0.113.9' })
    return { headers: response.headers, text: await response.text() }
  }
  const brief = (rows: UsageRow[]) => rows.map(({ name, second_name, quota }) => [name, second_name, quota])
  /** Runs the same check before and after the rollup. */
  const twice = async (check: () => Promise<void>) => {
    await check()
    await rollUpUsage(api.store, now)
    await check()
  }

  test('a row has all figures, the change and the curve', async () => {
    await add(
      row(ada, midnight + 5, 30),
      row(ada, midnight + hour, 40, { outcome: 'failed' }),
      row(ada, midnight + hour, 0, { type: 6 }),
      row(bob, midnight + hour, 30),
      row(ada, midnight - hour, 20),
      row(ada, midnight - day, 1000),
    )
    await twice(async () => {
      const range = `start_timestamp=${midnight}&end_timestamp=${midnight + day - 1}`
      const [first, ...others] = await read(`by=user&compare=previous&${range}`)
      expect(first).toEqual({
        key: String(ada.id),
        name: 'ada',
        owner: '',
        second_key: '',
        second_name: '',
        second_owner: '',
        quota: 70,
        share: 0.7,
        requests: 2,
        prompt_tokens: 60,
        completion_tokens: 8,
        cached_tokens: 20,
        failed: 2,
        calls: 3,
        previous_quota: 20,
        values: [30, 40, ...Array.from({ length: 21 }, () => 0)],
      })
      expect(others).toMatchObject([{ name: 'bob', quota: 30, share: 0.3, previous_quota: 0 }])
      expect((await read('by=user'))[0]).toMatchObject({ quota: 1090, previous_quota: null })
    })
  })

  test('a project has the calls of the tokens that are in it now, in tables, curves, charts and files', async () => {
    const token = async (who: Person, name: string, project: string) => {
      const body = { name, project, unlimited_quota: true }
      const { json } = await api.call('POST', '/api/token/', { as: who.token, body })
      return (json as { data: { id: number } }).data.id
    }
    const web = await token(ada, 'web', 'Web')
    const app = await token(ada, 'app', "it's %_\\")
    const theirs = await token(bob, 'theirs', 'Web')
    const free = await token(bob, 'free', '')
    const deleted = 999
    const ofToken = (who: Person, token_id: number, quota: number, hours = 1) =>
      row(who, midnight + hours * hour, quota, { token_id, model_name: hours === 1 ? 'gpt-4o' : 'claude' })
    await add(
      ...[ofToken(ada, web, 100), ofToken(ada, web, 11, 3), ofToken(ada, app, 20)],
      ...[ofToken(bob, theirs, 5), ofToken(bob, free, 3), ofToken(bob, deleted, 1)],
      row(ada, midnight + hour, 0, { token_id: web, type: 6 }),
    )
    const rows = async (query: string, as = admin) => brief(await read(`by=project&${query}`, as))
    await twice(async () => {
      expect(await rows('')).toEqual([
        ['Web', '', 116],
        ["it's %_\\", '', 20],
        ['', '', 4],
      ])
      expect(await rows('and=model&sort=name&order=asc')).toEqual([
        ['', 'gpt-4o', 4],
        ["it's %_\\", 'gpt-4o', 20],
        ['Web', 'claude', 11],
        ['Web', 'gpt-4o', 105],
      ])
      expect(await rows('and=user&project=Web')).toEqual([
        ['Web', 'ada', 111],
        ['Web', 'bob', 5],
      ])
      expect(await rows('keyword=%25_')).toEqual([["it's %_\\", '', 20]])
      expect(await rows('username=bob&not_project=Web')).toEqual([['', '', 4]])
      const range = `start_timestamp=${midnight}&end_timestamp=${midnight + 4 * hour - 1}`
      const [first] = await read(`by=project&${range}`)
      expect(first).toMatchObject({ key: 'Web', owner: '', requests: 3, failed: 1, calls: 4, values: [0, 105, 0, 11] })
      // Users see only their own projects, also where other people have projects with the same name.
      expect(await rows('', bob)).toEqual([
        ['Web', '', 5],
        ['', '', 4],
      ])
      const { data } = (
        await api.call('GET', `/api/usage/?group_by=project&rollup=hour&top=1&${range}`, { as: admin.token })
      ).json as { data: { groups: object[]; other: object } }
      expect(data).toMatchObject({
        groups: [{ key: 'Web', name: 'Web', total: { quota: 116 }, values: [0, 105, 0, 11] }],
        other: { groups: 2, total: { quota: 24 } },
      })
      const { text } = await download('by=project&and=user&project=Web')
      const lines = text.split('\r\n').map((line) => line.replaceAll('"', '').split(',').slice(0, 5).join(','))
      expect(lines.slice(0, 4)).toEqual([
        'project,user_id,user,usd,quota',
        `Web,${ada.id},ada,0.000222,111`,
        `Web,${bob.id},bob,0.000010,5`,
        'Total,,,0.000232,116',
      ])
    })
    // When a token moves to another project, its earlier calls move with it.
    await api.call('PUT', '/api/token/', { as: ada.token, body: { id: app, project: 'Web' } })
    expect(await rows('')).toEqual([
      ['Web', '', 136],
      ['', '', 4],
    ])
  })

  test('for every pair of dimensions, the sums equal the sums of the log rows in the exact range and time zone', async () => {
    const models = ['gpt-4o', 'claude', "it's %_\\"]
    const rows = Array.from({ length: 400 }, (_, n) =>
      row([ada, bob, admin][n % 3] ?? ada, at('2023-09-28T00:00:00Z') + n * 7919, 1 + ((n * 37) % 101), {
        model_name: models[n % models.length === 0 ? n % 2 : n % 3],
        channel_id: 1 + (n % 4),
        token_id: 1 + (n % 5),
      }),
    )
    await add(...rows)
    const zones = [
      ['Europe/Berlin', at('2023-09-30T22:00:00Z'), at('2023-10-31T22:59:59Z')],
      ['Asia/Kolkata', at('2023-09-30T18:30:00Z'), at('2023-10-31T18:29:59Z')],
      ['UTC', at('2023-10-10T10:20:30Z'), at('2023-10-10T10:50:00Z')],
    ] as const
    await twice(async () => {
      for (const [zone, start, end] of zones) {
        const wanted = rows.filter(({ created_at }) => created_at >= start && created_at <= end)
        const sum = wanted.reduce((total, { quota }) => total + quota, 0)
        for (const pair of [
          'by=user&and=model',
          'by=token&and=day',
          'by=day&and=user',
          'by=channel',
          'by=day&and=channel',
          'by=project',
          'by=project&and=day',
          'by=channel&and=project',
        ]) {
          const query = `${pair}&start_timestamp=${start}&end_timestamp=${end}&time_zone=${zone}&size=100`
          const pages = [...(await read(query)), ...(await read(`${query}&p=1`))]
          const all = pages.reduce((total, { quota }) => total + quota, 0)
          const requests = pages.reduce((total, each) => total + each.requests, 0)
          expect([zone, pair, all, requests]).toEqual([zone, pair, sum, wanted.length])
        }
      }
      const days = await read(`by=day&and=user&sort=name&order=asc&size=100&${october}`)
      const berlin = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' })
      for (const { name, second_name, quota } of days) {
        const own = rows.filter(
          (each) => berlin.format(each.created_at * 1000) === name && each.username === second_name,
        )
        expect([name, second_name, quota]).toEqual([name, second_name, own.reduce((sum, each) => sum + each.quota, 0)])
      }
      expect(days[0]?.name).toBe('2023-10-01')
      expect(days.at(-1)?.name).toBe('2023-10-31')
    })
  })

  // Six years with all clock changes, partial hours at all ends, and the period before.
  const longest = [1, 2, now - 6 * 364 * day, now - 50 * day + 61]
  test.each(longest)(
    'every pair of dimensions works, even with the largest query that it can cause, from %d',
    async (from) => {
      await add(row(ada, now - 6 * 364 * day, 5), row(bob, now - 40 * day, 7), row(ada, now - 90, 9))
      const dimensions = ['user', 'token', 'model', 'channel', 'day']
      await twice(async () => {
        for (const by of dimensions)
          for (const and of ['', ...dimensions.filter((each) => each !== by)]) {
            const pair = `by=${by}${and && `&and=${and}`}`
            const query = `${pair}&start_timestamp=${from}&end_timestamp=${now - 31}&compare=previous&keyword=&time_zone=Europe/Berlin`
            const sum = (await read(query)).reduce((total, { quota }) => total + quota, 0)
            expect([query, sum]).toEqual([query, from < now - 50 * day ? 21 : 16])
          }
      })
    },
  )

  test('a table by day covers at most six years, counted from the first call', async () => {
    const query = 'by=user&and=day&start_timestamp=1&time_zone=Europe/Berlin'
    expect((await ask(query)).success).toBe(true)
    await add(row(ada, now - 10 * 365 * day, 5))
    expect((await ask(query)).message).toBe('A table by day covers at most six years. Choose a later start.')
    expect((await ask(query.replace('Europe/Berlin', 'UTC'))).success).toBe(true)
  })

  test('rows are sorted, paged and found by name; rows of tokens include the owner', async () => {
    const account = await addAccount(api.store, { user: 5 })
    const { tokenId } = await addSecondToken(api.store, { ...account, userId: ada.id })
    await add(
      row(ada, midnight, 5, { model_name: 'b', token_id: tokenId, token_name: 'old name' }),
      row(bob, midnight, 9, { model_name: 'a', token_id: 999, token_name: 'gone' }),
      row(bob, midnight, 7, { model_name: 'c_1', token_id: 999, token_name: 'gone', channel_id: 77 }),
    )
    await twice(async () => {
      expect(brief(await read('by=model'))).toEqual([
        ['a', '', 9],
        ['c_1', '', 7],
        ['b', '', 5],
      ])
      expect(brief(await read('by=model&sort=name&order=asc')).map(([name]) => name)).toEqual(['a', 'b', 'c_1'])
      expect(await ask('by=model&size=2&p=1')).toMatchObject({ data: [{ name: 'b' }], total: 3 })
      expect(await ask('by=model&size=2&p=9')).toMatchObject({ data: [], total: 3 })
      expect(await ask('by=model&keyword=C_')).toMatchObject({ data: [{ name: 'c_1', share: 7 / 21 }], total: 1 })
      expect(await ask('by=model&keyword=%25')).toMatchObject({ data: [], total: 0 })
      expect((await read('by=token')).map(({ name, owner }) => [name, owner])).toEqual([
        ['gone', 'bob'],
        ['test', 'ada'],
      ])
      expect(await read('by=user&and=model&keyword=ada')).toMatchObject([{ name: 'ada', second_name: 'b' }])
      expect(await read('by=channel&keyword=77')).toMatchObject([{ key: '77', name: '77', quota: 7 }])
      for (const sort of ['tokens', 'cached', 'failed', 'failure_rate', 'mean', 'change', 'second'])
        expect(await read(`by=model&and=user&sort=${sort}`)).toHaveLength(3)
    })
  })

  test('channels include the attempts that failed on them', async () => {
    const { channelId } = await addAccount(api.store, { user: 5 })
    await add(row(ada, midnight, 5, { channel_id: channelId }))
    await api.store.write((trx) =>
      addChannelFailures(trx, [{ channel_id: channelId, model_name: 'm', slot: midnight / hour, attempts: 3 }]),
    )
    const [one] = await read('by=channel')
    expect(one).toMatchObject({ requests: 1, failed: 3, calls: 4 })
    expect(await read(`by=channel&and=day&channel=${channelId}`)).toMatchObject([{ failed: 3, calls: 4 }])
    expect(await read('by=user&and=channel')).toMatchObject([{ failed: 0, calls: 1 }])
  })

  test('people see only their own rows and nothing about channels, no matter what they request', async () => {
    await add(row(ada, midnight, 10, { channel_id: 7 }), row(bob, midnight, 20, { channel_id: 8 }))
    for (const query of ['by=user', 'by=user&username=bob', 'by=token&channel=8', 'by=model&and=user&userId=3'])
      expect([query, (await read(query, ada)).map(({ quota }) => quota)]).toEqual([query, [10]])
    for (const query of ['by=channel', 'by=user&and=channel'])
      expect(await ask(query, ada)).toMatchObject({
        success: false,
        message: 'Only admins can group usage by channel.',
      })
    const own = await download('by=user', ada)
    expect(own.text).toContain('ada')
    expect(own.text).not.toContain('bob')
    expect((await api.call('GET', '/api/usage/export?by=channel', { as: ada.token })).json.success).toBe(false)
  })

  test('invalid requests are refused', async () => {
    for (const query of [
      'by=group',
      'by=user&and=user',
      'and=none',
      'time_zone=Mars/Base',
      `time_zone=${'x'.repeat(65)}`,
      `keyword=${'x'.repeat(101)}`,
      'compare=last',
      'start_timestamp=-1',
    ])
      expect([query, (await ask(query)).success]).toEqual([query, false])
    // A list treats an invalid page or order as absent.
    for (const query of [
      "sort=quota' desc; drop table logs; --",
      'size=100000',
      'p=-1',
      'order=up',
      'start_timestamp=9e15',
    ])
      expect([query, (await ask(query)).success]).toEqual([query, true])
  })

  test('the exported file has all rows with amounts in dollars, the totals, the range and the time zone', async () => {
    const october10 = at('2023-10-10T12:00:00Z')
    await add(
      row(ada, october10, 250_001, { model_name: '=cmd()' }),
      row(ada, october10 + day, 3, { model_name: 'b' }),
      row(bob, october10, 1, { model_name: 'b' }),
      row(bob, now, 99_999),
    )
    await twice(async () => {
      const file = await download(`by=user&and=model&${october}`)
      expect(file.headers.get('content-disposition')).toBe('attachment; filename="usage-by-user-model-2023-10.csv"')
      const period = '"2023-10-01 00:00","2023-11-01 00:00","Europe/Berlin"'
      expect(file.text.replace('\u{FEFF}', '').split('\r\n')).toEqual([
        '"user_id","user","model","usd","quota","calls","failed","prompt_tokens","cached_tokens","completion_tokens","from","until","time_zone"',
        `"${ada.id}","ada","'=cmd()",0.500002,250001,1,0,30,10,4,${period}`,
        `"${ada.id}","ada","b",0.000006,3,1,0,30,10,4,${period}`,
        `"${bob.id}","bob","b",0.000002,1,1,0,30,10,4,${period}`,
        `"Total","","",0.500010,250005,3,0,90,30,12,${period}`,
        '',
      ])
    })
    const other = await download(`by=day&start_timestamp=${midnight - day}`)
    expect(other.headers.get('content-disposition')).toContain('usage-by-day-2023-11-13-to-2023-11-14.csv')
    expect((await api.call('GET', '/api/audit/?action=usage', { as: admin.token })).json.data).toMatchObject([
      { action: 'usage.export', detail: 'usage-by-day-2023-11-13-to-2023-11-14.csv' },
      { detail: 'usage-by-user-model-2023-10.csv' },
      {},
    ])
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { logRow } from '../../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { rollUpUsage } from '../../store/usage/usage-rollup.ts'

const now = 1_700_000_000

/** The cells of a CSV text, parsed as in RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: Awaited<ReturnType<TestApi['addPerson']>>
  let ada: typeof admin

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada' })
  })
  afterEach(() => api.store.close())

  const row = (fields: object = {}) => ({
    ...logRow({ userId: ada.id, tokenId: 1, channelId: 7 }),
    username: 'ada',
    quota: 5,
    created_at: now,
    attempts: '[7,8]',
    ...fields,
  })
  const add = (...rows: object[]) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values(rows.map((fields) => row(fields)))
        .execute(),
    )
  const request = (path: string, as = admin) =>
    api.app.request(`/api/log/${path}`, { headers: { authorization: as.token } }, { socketAddress: '203.0.113.9' })
  const read = async (path: string, as = admin) => {
    const response = await request(path, as)
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { response, bytes, rows: parseCsv(new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes)) }
  }

  test('cells contain the stored values unchanged, except values that a spreadsheet would treat as formulas', async () => {
    const nasty = ['a,b', 'say "hi"', 'two\r\nlines', '日本語', "it's", '', ' x ', '100%_\\']
    await add(...nasty.map((content) => ({ content })), { content: '=1+1' }, { content: '@cmd', token_name: '-2+3' })
    const { response, bytes, rows } = await read('export')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(response.headers.get('content-disposition')).toContain('attachment')
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    const [head = [], ...data] = rows
    const column = (name: string) => data.map((cells) => cells[head.indexOf(name)])
    expect(column('content').reverse()).toEqual([...nasty, "'=1+1", "'@cmd"])
    expect(column('token_name')[0]).toBe("'-2+3")
    expect(column('time')[0]).toBe('2023-11-14T22:13:20.000Z')
    expect(column('quota')[0]).toBe('5')
    expect(column('channel')[0]).toBe('7')
    expect(column('attempts')[0]).toBe('"[7,8]"'.slice(1, -1))
    expect(data.every((cells) => cells.length === head.length)).toBe(true)
  })

  test('exports all rows that match the filter, each once, newest first, no matter how many there are', async () => {
    const hours = Array.from({ length: 40 }, (_, index) => now - index * 3600)
    for (const created_at of hours) {
      await add(...Array.from({ length: created_at === now ? 1200 : 7 }, () => ({ created_at, model_name: 'a' })), {
        created_at,
        model_name: 'b',
      })
    }
    await rollUpUsage(api.store, now)
    await add({ created_at: now - 5, model_name: 'a' })
    const { rows } = await read(`export?model_name=a&start_timestamp=${now - 30 * 3600}`)
    const times = rows.slice(1).map((cells) => cells[1] ?? '')
    expect(times).toHaveLength(1200 + 30 * 7 + 1)
    expect(new Set(rows.map((cells) => cells[0])).size).toBe(rows.length)
    const hoursOf = times.map((time) => time.slice(0, 13))
    expect(hoursOf).toEqual([...hoursOf].sort().reverse())
  })

  test('people get only their own rows, and nothing about channels', async () => {
    await add({}, { user_id: admin.id, username: 'admin', content: 'of somebody else' })
    const { rows } = await read('self/export?username=admin&channel=8&user_id=1', ada)
    expect(rows).toHaveLength(2)
    expect(rows[0]).not.toContain('channel')
    expect(rows[0]).not.toContain('attempts')
    expect(rows.flat().join()).not.toContain('[7,8]')
    const refused = await request('export', ada)
    expect(((await refused.json()) as { success: boolean }).success).toBe(false)
  })

  test("an export of everybody's rows is recorded in the audit log", async () => {
    await read('export')
    const { data } = (await api.call('GET', '/api/audit/?action=log.', { as: admin.token })).json
    expect(data).toMatchObject([{ actor_name: 'admin', action: 'log.export' }])
  })

  test('a link in the console downloads the export, and a page on another site cannot', async () => {
    const link = (site: string) =>
      api.call('GET', '/api/log/export', {
        as: admin.token,
        headers: { cookie: 'session=x', 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*' },
      })
    for (const site of ['same-origin', 'none']) expect([site, (await link(site)).status]).toEqual([site, 200])
    expect((await link('cross-site')).status).toBe(403)
  })

  test('each person can run two exports at a time, and a reader who disconnects frees a slot', async () => {
    await add(...Array.from({ length: 600 }, () => ({})))
    const first = await request('self/export', ada)
    const second = await request('self/export', ada)
    expect((await request('self/export', ada)).status).toBe(429)
    expect((await request('self/export', admin)).status).toBe(200)
    await first.body?.cancel()
    const third = await request('self/export', ada)
    expect(third.status).toBe(200)
    expect(parseCsv(await second.text())).toHaveLength(601)
    expect(parseCsv(await third.text())).toHaveLength(601)
    expect((await read('self/export', ada)).response.status).toBe(200)
  })

  test('a HEAD request, or a request answered with an error, does not count as an export', async () => {
    const head = (as = ada) =>
      api.app.request('/api/log/self/export', { method: 'HEAD', headers: { authorization: as.token } })
    for (let times = 0; times < 4; times++) {
      const answer = await head()
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
        '',
      ])
    }
    expect((await read('self/export', ada)).response.status).toBe(200)

    // Without its table, the audit log cannot be written.
    const { store } = api
    await store.write((trx) => sql`alter table audit_events rename to audit_events_away`.execute(trx))
    for (let times = 0; times < 4; times++) expect((await request('export')).status).toBe(503)
    await store.write((trx) => sql`alter table audit_events_away rename to audit_events`.execute(trx))
    expect((await read('export')).response.status).toBe(200)
  })

  test('rows are read from the database only as fast as the client reads the response', async () => {
    for (let step = 0; step < 10; step++) await add(...Array.from({ length: 500 }, () => ({})))
    const response = await request('export')
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.read()
    // The part of the export that the client has not read is not generated yet, so it does not contain rows that are
    // deleted now.
    await api.store.write((trx) => trx.deleteFrom('logs').execute())
    let rest = 0
    for (;;) {
      const step = await reader?.read()
      if (!step || step.done) break
      rest += new TextDecoder().decode(step.value).split('\r\n').length - 1
    }
    expect(rest).toBeLessThanOrEqual(1000)
  })
})

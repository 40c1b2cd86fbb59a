// Text from search boxes and filters reaches the database only as a value; its length and the number of rows returned
// are limited. Numbers in titles, such as 8.6-12, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { logRow } from '../helpers/accounts.ts'
import { forEachDatabase, forEachDatabaseUrl } from '../helpers/databases.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

const searches = [
  '/api/user/search',
  '/api/token/search',
  '/api/channel/search',
  '/api/redemption/search',
  '/api/log/search',
  '/api/log/self/search',
]

forEachDatabase((_, openFresh) => {
  let set: Scene
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const get = async (path: string) => (await set.api.call('GET', path, { as: root.token })).json
  const post = (path: string, body: unknown) => set.api.call('POST', path, { as: root.token, body })

  /** Creates one object of each kind with the given name. */
  async function named(name: string): Promise<void> {
    await post('/api/token/', { name })
    await post('/api/channel/', { name, key: 'k', models: 'm', type: 1 })
    await post('/api/redemption/', { name, quota: 1 })
    const account = { userId: root.id, tokenId: 0, channelId: 0 }
    await set.api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values({ ...logRow(account), content: name, quota: 0 })
        .execute(),
    )
  }

  test('8.6-12 LIKE wildcards are literal, and a search returns at most a hundred rows', async () => {
    for (const name of ['100% sure', 'under_score', 'back\\slash', 'plain']) await named(name)
    for (const path of searches.slice(1)) {
      for (const [keyword, found] of [
        ['%', 0],
        ['_', 0],
        ['1_0', 0],
        ['100%', 1],
        ['under_', 1],
        ['underXscore', 0],
        ['back\\', 1],
        ['\\', 0],
        ['%plain%', 0],
        ['p%n', 0],
      ] as const) {
        const { data } = await get(`${path}?keyword=${encodeURIComponent(keyword)}`)
        expect([path, keyword, data.length]).toEqual([path, keyword, found])
      }
    }
    for (const keyword of ['%', '_', '%25'])
      expect((await get(`/api/user/search?keyword=${encodeURIComponent(keyword)}`)).data).toEqual([])
    await post('/api/redemption/', { name: 'many', quota: 1, count: 100 })
    await post('/api/redemption/', { name: 'many', quota: 1, count: 50 })
    expect((await get('/api/redemption/search?keyword=')).data).toHaveLength(100)
    expect((await get('/api/redemption/search?keyword=many&size=100000')).data.length).toBeLessThanOrEqual(100)
  })

  test('8.5-19 SQL in keywords, filters, names, ids and sort columns is treated as an ordinary value', async () => {
    const injections = [
      `' OR '1'='1`,
      `' OR 1=1 --`,
      `'; DROP TABLE users; --`,
      `x' UNION SELECT password FROM users --`,
      `1; UPDATE users SET role=100`,
      `") OR ("1"="1`,
      `$1`,
      `\\'; --`,
    ]
    const users = await set.rows('users')
    for (const text of injections) {
      const value = encodeURIComponent(text)
      for (const path of searches)
        expect([path, text, (await get(`${path}?keyword=${value}`)).data]).toEqual([path, text, []])
      for (const query of [`username=${value}`, `token_name=${value}`, `model_name=${value}`]) {
        expect((await get(`/api/log/?${query}`)).data).toEqual([])
        expect((await get(`/api/log/stat?${query}`)).data).toEqual({ quota: 0, token: 0, calls: 0, failed: 0 })
      }
      for (const query of [`actor=${value}`, `action=${value}`])
        expect((await get(`/api/audit/?${query}`)).data).toEqual([])
      for (const path of ['user', 'token', 'channel', 'redemption']) {
        expect((await get(`/api/${path}/?sort=${value}&order=${value}&p=${value}&size=${value}`)).success).toBe(true)
        expect((await get(`/api/${path}/${value}`)).success).toBe(false)
      }
      expect((await post('/api/user/topup', { key: text })).json.success).toBe(false)
      expect((await post('/api/user/manage', { username: text, action: 'delete' })).json.success).toBe(false)
    }
    for (const text of injections.slice(0, 2)) {
      expect(
        (await set.api.call('POST', '/api/user/login', { body: { username: text, password: text } })).json.success,
      ).toBe(false)
    }
    expect(await set.rows('users')).toEqual(users)
  })

  test('8.5-16 SQL in an access token matches nobody', async () => {
    for (const token of [`' OR '1'='1`, `x' UNION SELECT 1 --`, `${root.token}' --`, `${root.token}\\`]) {
      const { json } = await set.api.call('GET', '/api/user/self', { as: token })
      const message = 'The access token is not valid.'
      expect([token, json]).toEqual([token, { success: false, message, code: 'access_token_invalid' }])
    }
  })
})

forEachDatabaseUrl((kind, freshUrl) => {
  test('keywords, filters, names and bodies of 1 MB are refused early, and the next call is served', async () => {
    await using gate = await startTestGateway(kind === 'postgres' ? { databaseUrl: await freshUrl() } : {})
    const megabyte = 'k'.repeat(1024 * 1024)
    const headers = { authorization: 'testgatewayaccesstoken' }
    for (const path of [
      ...searches.map((each) => `${each}?keyword=`),
      '/api/log/?username=',
      '/api/audit/?actor=',
      '/api/token/',
    ]) {
      // The server may close the connection instead of reading the rest of the request.
      const status = await fetch(gate.url + path + megabyte, { headers }).then(
        (response) => response.status,
        () => 'closed',
      )
      expect([path, [200, 'closed', 413, 414, 431].includes(status)]).toEqual([path, true])
      if (status === 200) throw new Error(`${path} took a megabyte`)
    }
    const hundred = await fetch(`${gate.url}/api/user/search?keyword=${'k'.repeat(101)}`, { headers })
    expect(((await hundred.json()) as { success: boolean }).success).toBe(false)
    for (const [method, path, body] of [
      ['POST', '/api/token/', { name: megabyte }],
      ['POST', '/api/user/', { username: megabyte, password: 'long enough' }],
      ['POST', '/api/user/login', { username: 'root', password: megabyte }],
      ['POST', '/api/redemption/', { name: megabyte, quota: 1 }],
      ['PUT', '/api/option/', { key: 'Notice', value: megabyte }],
    ] as const) {
      const response = await fetch(gate.url + path, { method, headers, body: JSON.stringify(body) })
      expect([path, response.status]).toEqual([path, 413])
    }
    expect((await fetch(`${gate.url}/api/user/self`, { headers })).status).toBe(200)
  })

  test('8.5-16 SQL in a relay key matches no token', async () => {
    await using gate = await startTestGateway(kind === 'postgres' ? { databaseUrl: await freshUrl() } : {})
    for (const key of [
      `sk-' OR '1'='1`,
      `sk-x' UNION SELECT 1 --`,
      `${gate.token}' --`,
      `${gate.token}-1' OR 1=1 --`,
      `sk-${'%'.repeat(48)}`,
    ]) {
      for (const path of ['/v1/models', '/v1/dashboard/billing/usage']) {
        const response = await fetch(gate.url + path, { headers: { authorization: `Bearer ${key}` } })
        expect([key, [400, 401].includes(response.status)]).toEqual([key, true])
      }
    }
  })
})

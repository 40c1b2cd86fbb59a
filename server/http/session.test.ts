import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { hashPassword } from '../lib/secrets/password.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let cookie: string
  let person: { id: number; username: string; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    person = await api.addPerson({ password: hash })
    cookie = cookieOf(await api.call('POST', '/api/user/login', { body: { username: person.username, password } }))
  })

  afterEach(() => api.store.close())

  const self = (options: Parameters<TestApi['call']>[2] = {}) => api.call('GET', '/api/user/self', options)

  test('a request without a session and without an access token gets a 401', async () => {
    const answer = await self()
    expect(answer.status).toBe(401)
    expect(answer.json).toMatchObject({ success: false, message: expect.stringContaining('Not logged in') })
  })

  test('a session cookie authenticates a request, and scripts cannot read the cookie', async () => {
    expect((await self({ cookie })).json.data.username).toBe(person.username)
    const login = await api.call('POST', '/api/user/login', { body: { username: person.username, password } })
    const line = login.headers.getSetCookie()[0] ?? ''
    expect(line).toContain('HttpOnly')
    expect(line).toContain('SameSite=Lax')
    expect(line).toContain('Path=/')
    expect(line).toContain('Max-Age=2592000')
    expect(line).not.toContain('Secure')
  })

  test('the cookie is Secure behind TLS', async () => {
    const behindProxy = await createTestApi(api.store, { trustedProxies: ['10.0.0.1'] })
    const login = await behindProxy.call('POST', '/api/user/login', {
      body: { username: person.username, password },
      headers: { 'x-forwarded-proto': 'https' },
      address: '10.0.0.1',
    })
    expect(login.headers.getSetCookie()[0]).toContain('Secure')
  })

  test('the sessions table contains no usable session id', async () => {
    const rows = await api.store.read.selectFrom('sessions').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(cookie.slice('session='.length))
  })

  test('the access token works with and without Bearer, and an unknown token gets a 200 response with an error', async () => {
    expect((await self({ as: person.token })).json.success).toBe(true)
    expect((await self({ headers: { authorization: person.token } })).json.success).toBe(true)
    const unknown = await self({ as: 'nonsense' })
    expect([unknown.status, unknown.json.success]).toEqual([200, false])
  })

  test('an invalid session cookie does not prevent the use of a valid access token', async () => {
    expect((await self({ cookie: 'session=gone', as: person.token })).json.success).toBe(true)
    expect((await self({ cookie: 'session=gone' })).status).toBe(401)
  })

  test('a ban takes effect at the next request', async () => {
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', person.id).execute())
    for (const options of [{ cookie }, { as: person.token }]) {
      const answer = await self(options)
      expect([answer.status, answer.json.success]).toEqual([200, false])
    }
  })

  test('a demotion takes effect at the next request', async () => {
    await api.store.write((trx) => trx.updateTable('users').set({ role: 10 }).where('id', '=', person.id).execute())
    expect((await api.call('GET', '/api/user/', { cookie })).json.success).toBe(true)
    await api.store.write((trx) => trx.updateTable('users').set({ role: 1 }).where('id', '=', person.id).execute())
    expect((await api.call('GET', '/api/user/', { cookie })).json.success).toBe(false)
  })

  test('sessions end after thirty days', async () => {
    api.time.ms += 29 * 86_400_000
    expect((await self({ cookie })).status).toBe(200)
    api.time.ms += 2 * 86_400_000
    expect((await self({ cookie })).status).toBe(401)
  })

  test('logout ends the session on the server, not only in the browser', async () => {
    expect((await api.call('GET', '/api/user/logout', { cookie })).json.success).toBe(true)
    expect((await self({ cookie })).status).toBe(401)
    expect((await api.call('GET', '/api/user/logout')).json.success).toBe(true)
  })

  test('pages of other sites cannot use the cookie', async () => {
    const evil = { 'sec-fetch-site': 'cross-site' }
    const rename = { body: { display_name: 'pwned' }, cookie }
    expect((await api.call('PUT', '/api/user/self', { ...rename, headers: evil })).status).toBe(403)
    expect(
      (await api.call('PUT', '/api/user/self', { ...rename, headers: { origin: 'http://evil.example' } })).status,
    ).toBe(403)
    expect((await api.call('GET', '/api/user/token', { cookie, headers: evil })).status).toBe(403)
    expect((await api.call('GET', '/api/user/logout', { cookie, headers: evil })).status).toBe(403)
    expect((await api.call('POST', '/api/user/login', { body: {}, headers: evil })).status).toBe(403)
    expect(
      (await api.call('PUT', '/api/user/self', { ...rename, headers: { origin: 'http://localhost' } })).status,
    ).toBe(200)
    expect((await self({ cookie })).json.data.display_name).toBe('pwned')
  })

  test('a database that does not respond results in 503, not 401', async () => {
    await api.store.write((trx) => trx.schema.dropTable('sessions').execute())
    const answer = await self({ cookie })
    expect([answer.status, answer.json.success]).toEqual([503, false])
    expect(JSON.stringify(answer.json)).not.toMatch(/sessions|select/)
    expect(api.warnings).toHaveLength(1)
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { setOptions } from '../../../test/helpers/mail-server.ts'
import { type OAuthServer, type OutsidePerson, startOAuthServer } from '../../../test/helpers/outside-services.ts'
import { hashPassword } from '../../lib/secrets/password.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let hub: OAuthServer

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    hub = await startOAuthServer()
    await setOptions(api, {
      GitHubOAuthEnabled: 'true',
      GitHubClientId: hub.clientId,
      GitHubClientSecret: hub.clientSecret,
      GitHubOAuthBaseURL: hub.url,
      GitHubApiBaseURL: hub.url,
    })
  })
  afterEach(async () => {
    await hub[Symbol.asyncDispose]()
    await api.store.close()
  })

  const octo: OutsidePerson = { id: 583231, login: 'octo', name: 'Octo Cat', email: 'octo@example.com' }

  /** A browser that stores its cookies. */
  function browser(session = '') {
    const jar = new Map<string, string>()
    if (session !== '') jar.set('session', session.replace('session=', ''))
    async function get(path: string) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const answer = await api.call('GET', path, { cookie })
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        jar.set(name, value)
      }
      return answer
    }
    const callback = (query: Record<string, string>) => get(`/api/oauth/github?${new URLSearchParams(query)}`)
    return {
      jar,
      get,
      callback,
      async logIn(person: OutsidePerson) {
        return callback(hub.agree((await get('/api/oauth/github/start')).json.data, person))
      },
    }
  }
  const rows = () => api.store.read.selectFrom('users').selectAll().orderBy('id').execute()
  async function sessionOf(username: string) {
    return cookieOf(await api.call('POST', '/api/user/login', { body: { username, password } }))
  }
  const idOf = (person: OutsidePerson) => `${person.id}@${new URL(hub.url).host}`

  test('a first login creates a usable account with the bonus for new accounts', async () => {
    await setOptions(api, { QuotaForNewUser: '1000', DisplayInCurrencyEnabled: 'false' })
    const mine = browser()
    const answer = await mine.logIn(octo)
    const [user] = await rows()
    expect(answer.json).toMatchObject({ success: true, message: '', data: { id: user?.id, role: 1, status: 1 } })
    expect(user).toMatchObject({
      username: `github_${user?.id}`,
      display_name: 'Octo Cat',
      email: 'octo@example.com',
      github_id: 'octo',
      github_account_id: idOf(octo),
      password: '',
      quota: 1000,
    })
    expect((await mine.get('/api/user/self')).json.data).toMatchObject({ id: user?.id, github_id: 'octo' })
    const [log] = await api.store.read.selectFrom('logs').selectAll().execute()
    expect(log).toMatchObject({ user_id: user?.id, username: user?.username, content: 'New user bonus 1000 points' })
    const trail = await api.store.read.selectFrom('audit_events').select(['action', 'detail']).orderBy('id').execute()
    expect(trail).toEqual([
      { action: 'user.register', detail: 'github' },
      { action: 'login', detail: 'github' },
    ])
  })

  test('the authorization URL contains state and PKCE, and leaks no secrets', async () => {
    const mine = browser()
    const answer = await mine.get('/api/oauth/github/start')
    const address = new URL(answer.json.data)
    expect(`${address.origin}${address.pathname}`).toBe(`${hub.url}/login/oauth/authorize`)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: hub.clientId,
      scope: 'user:email',
      state: expect.stringMatching(/^[\w-]{20,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(answer.headers.getSetCookie().join()).toMatch(
      /oauth_state=[^;]*;(?: Max-Age=600;)? Path=\/; .*HttpOnly; SameSite=Lax/,
    )
    await mine.callback(hub.agree(answer.json.data, octo))
    const [exchange, user] = hub.requests
    expect(JSON.parse(exchange?.body ?? '')).toMatchObject({ code_verifier: expect.stringMatching(/^[\w-]{43,128}$/) })
    expect([exchange?.url, user?.url]).toEqual(['/login/oauth/access_token', '/user'])
    const codes = JSON.stringify(await api.store.read.selectFrom('one_time_codes').selectAll().execute())
    expect(codes).not.toContain(address.searchParams.get('state') ?? 'no state')
  })

  test('a later login returns the same account, even if the GitHub login name has changed', async () => {
    const first = await browser().logIn(octo)
    const renamed = { ...octo, login: 'octavia', name: 'Octavia' }
    const second = await browser().logIn(renamed)
    expect(second.json.data.id).toBe(first.json.data.id)
    expect((await rows()).map(({ github_id }) => github_id)).toEqual(['octavia'])
    // Another person who takes over the old login name gets a separate account.
    const heir = await browser().logIn({ ...octo, id: 99, email: 'heir@example.com' })
    expect(heir.json.data.id).not.toBe(first.json.data.id)
  })

  test('an imported account is recognised once by its login name, and by its id from then on', async () => {
    const { id } = await api.addPerson({ username: 'imported' })
    await api.store.write((trx) => trx.updateTable('users').set({ github_id: 'octo' }).where('id', '=', id).execute())
    expect((await browser().logIn(octo)).json.data).toMatchObject({ id, username: 'imported' })
    expect((await rows())[0]).toMatchObject({ github_id: 'octo', github_account_id: idOf(octo) })
    expect((await browser().logIn({ ...octo, id: 99 })).json.data.id).not.toBe(id)
  })

  test('an account with the same id on another GitHub host counts as another person', async () => {
    const first = await browser().logIn(octo)
    await using other = await startOAuthServer()
    await setOptions(api, { GitHubOAuthBaseURL: other.url, GitHubApiBaseURL: other.url })
    const mine = browser()
    const back = other.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    expect((await mine.callback(back)).json.data.id).not.toBe(first.json.data.id)
  })

  test('an email address that is taken or not allowed is not copied to the account', async () => {
    const { id } = await api.addPerson({ username: 'owner' })
    await api.store.write((trx) =>
      trx.updateTable('users').set({ email: 'OCTO@example.com' }).where('id', '=', id).execute(),
    )
    await browser().logIn(octo)
    await setOptions(api, { EmailDomainRestrictionEnabled: 'true', EmailDomainWhitelist: 'example.org' })
    await browser().logIn({ id: 7, login: 'seven', email: 'seven@example.com' })
    await browser().logIn({ id: 8, login: 'eight', email: 'not an address' })
    await browser().logIn({ id: 9, login: 'nine', name: 'N\0\u0007ine', email: null })
    expect((await rows()).at(-1)?.display_name).toBe('N ine')
    expect((await rows()).map(({ email }) => email)).toEqual(['OCTO@example.com', '', '', '', ''])
  })

  test('a logged-in user connects the account, and the message says so', async () => {
    const { id } = await api.addPerson({ username: 'ada', password: hash })
    const mine = browser(await sessionOf('ada'))
    expect((await mine.logIn(octo)).json).toEqual({ success: true, message: 'bind' })
    expect((await rows())[0]).toMatchObject({ id, github_id: 'octo', github_account_id: idOf(octo), email: '' })
    // Connecting the same account again is not a conflict.
    expect((await mine.logIn(octo)).json).toEqual({ success: true, message: 'bind' })
    expect((await browser().logIn(octo)).json.data.username).toBe('ada')
  })

  test('an external account that is already connected cannot be connected to another user', async () => {
    await browser().logIn(octo)
    await api.addPerson({ username: 'ada', password: hash })
    const mine = browser(await sessionOf('ada'))
    expect((await mine.logIn(octo)).json).toMatchObject({
      success: false,
      message: 'This external account is already connected to another user.',
    })
    const imported = await api.addPerson({ username: 'imported' })
    await api.store.write((trx) =>
      trx.updateTable('users').set({ github_id: 'nine' }).where('id', '=', imported.id).execute(),
    )
    expect((await mine.logIn({ id: 9, login: 'nine' })).json.success).toBe(false)
    expect((await rows()).filter((row) => row.username === 'ada')[0]).toMatchObject({ github_account_id: '' })
  })

  test('a callback whose state is missing, wrong, used, expired or from another browser gets 403, and GitHub is not called', async () => {
    const mine = browser()
    const { code, state } = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    const refused = async (answer: Promise<{ status: number; json: { success: boolean; message: string } }>) => {
      const { status, json } = await answer
      expect([status, json.success, json.message]).toEqual([403, false, expect.stringContaining('state')])
    }
    await refused(mine.callback({ code }))
    await refused(mine.callback({ code, state: '' }))
    await refused(mine.callback({ code, state: 'swrong' }))
    await refused(api.call('GET', `/api/oauth/github?code=${code}&state=${state}`))
    expect(hub.requests).toEqual([])
    // If another browser sends the state, it is refused, and the state is used up for both browsers.
    const other = browser()
    await other.get('/api/oauth/state')
    await refused(other.callback({ code, state }))
    await refused(mine.callback({ code, state }))

    const again = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    api.time.ms += 600_000
    await refused(mine.callback(again))
    const good = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    expect((await mine.callback(good)).json.success).toBe(true)
    await refused(mine.callback(good))
    expect(await rows()).toHaveLength(1)
  })

  test('two logins in progress in one browser both succeed', async () => {
    const mine = browser()
    const first = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    const second = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    expect((await mine.callback(first)).json.success).toBe(true)
    // When the second login returns, the browser is already logged in, so the callback connects the account instead.
    expect((await mine.callback(second)).json.message).toBe('bind')
  })

  test('clients that build the URL themselves get only a state', async () => {
    const mine = browser()
    const state = (await mine.get('/api/oauth/state')).json.data
    expect((await mine.callback({ code: hub.plainCode(octo), state })).json.success).toBe(true)
    expect(JSON.parse(hub.requests[0]?.body ?? '')).not.toHaveProperty('code_verifier')
  })

  test('OAuthStateOptional accepts a callback without a state, but not with a wrong state', async () => {
    await setOptions(api, { OAuthStateOptional: 'true' })
    expect((await browser().callback({ code: hub.plainCode(octo), state: 'swrong' })).status).toBe(403)
    expect((await browser().callback({ code: hub.plainCode(octo) })).json.success).toBe(true)
  })

  test('a refusal by the service is shown to the user, an invalid answer only to the operator', async () => {
    const mine = browser()
    const { state } = hub.agree((await mine.get('/api/oauth/github/start')).json.data, octo)
    const used = await mine.callback({ code: 'no such code', state })
    expect(used.json.message).toContain('bad_verification_code')
    const noCode = (await mine.get('/api/oauth/state')).json.data
    expect((await mine.callback({ code: '', state: noCode })).json.message).toContain('code')
    await setOptions(api, { GitHubClientSecret: 'another' })
    const secret = await mine.logIn(octo)
    expect(secret.json.message).toContain('incorrect_client_credentials')
    expect(secret.json.message).not.toContain('another')
    await setOptions(api, { GitHubClientSecret: hub.clientSecret, GitHubApiBaseURL: `${hub.url}/api/v3` })
    const answer = await mine.logIn(octo)
    expect([answer.status, answer.json.success]).toEqual([200, false])
    expect(api.warnings).toHaveLength(1)
    expect(await rows()).toEqual([])
  })

  test('refuses banned people, new accounts while registration is closed, and all logins while the login is disabled', async () => {
    await browser().logIn(octo)
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).execute())
    const banned = await browser().logIn(octo)
    expect([banned.json.success, banned.json.message]).toEqual([false, 'This account has been banned.'])
    expect(cookieOf(banned)).toBe('')
    await setOptions(api, { RegisterEnabled: 'false' })
    expect((await browser().logIn({ id: 2, login: 'two' })).json.message).toContain('Registration is closed')
    expect(await rows()).toHaveLength(1)
    await setOptions(api, { GitHubOAuthEnabled: 'false' })
    for (const path of ['/api/oauth/github/start', '/api/oauth/github?code=x&state=y']) {
      expect((await api.call('GET', path)).json.message).toBe('Your administrator has not enabled this login.')
    }
  })

  test('deleting an account frees the external account that was connected to it', async () => {
    const mine = browser()
    const first = await mine.logIn(octo)
    await api.call('DELETE', '/api/user/self', { cookie: `session=${mine.jar.get('session')}` })
    const second = await browser().logIn(octo)
    expect(second.json.success).toBe(true)
    expect(second.json.data.id).not.toBe(first.json.data.id)
  })

  test('many simultaneous first logins create one account', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => browser().logIn(octo)))
    expect(answers.map(({ json }) => json.success)).toEqual([true, true, true, true])
    expect(await rows()).toHaveLength(1)
  })

  test('a page on another site cannot make a browser connect an account or log in', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    for (const path of ['/api/oauth/state', '/api/oauth/github/start', '/api/oauth/github?code=x&state=y']) {
      expect((await api.call('GET', path, { headers })).status).toBe(403)
    }
  })
})

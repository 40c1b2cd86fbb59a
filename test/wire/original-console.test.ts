// The console of one-api 0.5.4 works with this server: responses have the form that it expects, and values that it
// sends without validation are accepted.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { createTestApi, type TestApi } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { setOptions } from '../helpers/mail-server.ts'
import { startOAuthServer } from '../helpers/outside-services.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { id: number; username: string; token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ role: 100 })
  })
  afterEach(() => api.store.close())

  const call = async (method: string, path: string, body?: unknown) =>
    (await api.call(method, path, { as: root.token, ...(body !== undefined && { body }) })).json

  /** The channel form as the console sends it, including the list `groups`, which the server does not use. */
  const channelForm = {
    name: 'one',
    type: 1,
    key: 'k',
    base_url: '',
    other: '',
    model_mapping: '{}',
    models: 'gpt-4',
    groups: ['default'],
    group: 'default',
  }

  test('the seconds of a channel test and the amount of a balance are at the top level, on success and on failure', async () => {
    await call('POST', '/api/channel/', channelForm)
    expect(await call('GET', '/api/channel/test/1/')).toEqual({ success: true, message: '', time: 1.234 })
    expect(await call('GET', '/api/channel/update_balance/1/')).toEqual({ success: true, message: '', balance: 12.5 })
    for (const path of ['/api/channel/test/9/', '/api/channel/update_balance/9/']) {
      const { success, message, code, data, ...figures } = await call('GET', path)
      expect([success, typeof message, typeof code, data, Object.values(figures)]).toEqual([
        false,
        'string',
        'string',
        undefined,
        [0],
      ])
    }
  })

  test('page texts are returned as strings, even if nothing was saved', async () => {
    for (const path of ['/api/notice', '/api/about', '/api/home_page_content']) {
      expect([path, await call('GET', path)]).toEqual([path, { success: true, message: '', data: '' }])
    }
  })

  test('every change of a status returns the new status', async () => {
    const person = await api.addPerson()
    await call('POST', '/api/channel/', channelForm)
    await call('POST', '/api/token/', { name: 't', remain_quota: 1, expired_time: -1, unlimited_quota: false })
    await call('POST', '/api/redemption/', { name: 'r', quota: 1, count: 1 })
    const { username } = person
    for (const [action, status, role] of [
      ['disable', 2, 1],
      ['enable', 1, 1],
      ['promote', 1, 10],
      ['demote', 1, 1],
    ] as const) {
      const { success, data } = await call('POST', '/api/user/manage', { username, action })
      expect([action, success, data.status, data.role]).toEqual([action, true, status, role])
    }
    for (const [method, path] of [
      ['PUT', '/api/channel/'],
      ['PUT', '/api/token/?status_only=true'],
      ['PUT', '/api/redemption/?status_only=true'],
    ] as const) {
      for (const status of [2, 1]) {
        const { success, data } = await call(method, path, { id: 1, status })
        expect([path, success, data.status]).toEqual([path, true, status])
      }
    }
  })

  test('a page of a list has at most ten rows, newest first, and is an empty list if there are no rows', async () => {
    await call('POST', '/api/redemption/', { name: 'r', quota: 1, count: 11 })
    for (let made = 0; made < 11; made++) {
      await api.addPerson()
      await call('POST', '/api/token/', { name: `t${made}` })
      await call('POST', '/api/channel/', { ...channelForm, name: `c${made}` })
    }
    for (const path of ['user', 'token', 'channel', 'redemption']) {
      const { data } = await call('GET', `/api/${path}/?p=0`)
      const ids = (data as { id: number }[]).map(({ id }) => id)
      expect([path, ids.length, ids]).toEqual([path, 10, [...ids].sort((a, b) => b - a)])
      expect((await call('GET', `/api/${path}/?p=1`)).data.length).toBeGreaterThan(0)
      expect([path, (await call('GET', `/api/${path}/?p=2`)).data]).toEqual([path, []])
      expect([path, (await call('GET', `/api/${path}/search?keyword=nothing`)).data]).toEqual([path, []])
    }
    const filter = 'type=0&username=&token_name=&model_name=&start_timestamp=0&end_timestamp=NaN'
    for (const path of ['/api/log/', '/api/log/self/']) {
      expect([path, (await call('GET', `${path}?p=0&${filter}`)).data]).toEqual([path, []])
    }
  })

  test('if the console sends whole records back, with empty boxes for some fields, only the edited fields change', async () => {
    await call('POST', '/api/channel/', channelForm)
    const channel = (await call('GET', '/api/channel/1')).data
    const saved = await call('PUT', '/api/channel/', {
      ...channel,
      id: 1,
      name: 'two',
      groups: ['default'],
      models: 'gpt-4',
    })
    expect(saved.data).toEqual({ ...channel, name: 'two' })

    const person = await api.addPerson()
    const user = (await call('GET', `/api/user/${person.id}`)).data
    expect((await call('PUT', '/api/user/', { ...user, password: '', quota: 77 })).success).toBe(true)
    expect((await call('GET', `/api/user/${person.id}`)).data).toEqual({ ...user, quota: 77 })

    // The value of an empty quota box is NaN, which is null in JSON.
    expect(
      (await call('POST', '/api/token/', { name: 'n', remain_quota: null, expired_time: -1, unlimited_quota: false }))
        .success,
    ).toBe(true)
    const token = (await call('GET', '/api/token/1')).data
    expect(token.remain_quota).toBe(0)
    expect((await call('PUT', '/api/token/', { ...token, id: 1, name: 'renamed' })).data).toEqual({
      ...token,
      name: 'renamed',
    })

    // If nobody invited the user, the invitation code is null.
    const body = {
      username: 'fresh',
      password: 'long enough',
      password2: 'long enough',
      email: '',
      verification_code: '',
      aff_code: null,
    }
    expect((await api.call('POST', '/api/user/register?turnstile=', { body })).json.success).toBe(true)
  })

  test('an external login by this console has no state, so it is refused unless the compatibility option is on', async () => {
    await using hub = await startOAuthServer()
    await setOptions(api, {
      GitHubOAuthBaseURL: hub.url,
      GitHubApiBaseURL: hub.url,
      GitHubClientId: hub.clientId,
      GitHubClientSecret: hub.clientSecret,
      GitHubOAuthEnabled: 'true',
    })
    const login = () => api.call('GET', `/api/oauth/github?code=${hub.plainCode({ id: 3, login: 'octo' })}`)
    const refused = await login()
    expect([refused.status, refused.json.success, refused.headers.getSetCookie()]).toEqual([403, false, []])
    expect(hub.requests).toEqual([])
    await setOptions(api, { OAuthStateOptional: 'true' })
    const accepted = await login()
    expect([accepted.status, accepted.json.success, accepted.json.data.role]).toEqual([200, true, 1])
  })
})

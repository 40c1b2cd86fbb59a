// Codes, links and solved challenges work only once and only for their purpose, and allow few attempts. Numbers in
// titles, such as 8.6-10, are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cookieOf } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../helpers/mail-server.ts'
import { startOAuthServer, startTurnstile, startWeChatHelper } from '../helpers/outside-services.ts'
import { type Attacker, belongings, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let user: Attacker
  let smtp: MailServer

  beforeEach(async () => {
    set = await scene(await openFresh())
    user = await set.person()
    smtp = await startMailServer()
    await mailThrough(set.api, smtp)
  })
  afterEach(async () => {
    await set.api.store.close()
    await smtp[Symbol.asyncDispose]()
  })

  const call = (method: string, path: string, options: Parameters<Scene['api']['call']>[2] = {}) =>
    set.api.call(method, path, options)
  const bindMail = (email: string, code: string, as: Attacker) =>
    call('GET', `/api/oauth/email/bind?email=${encodeURIComponent(email)}&code=${code}`, { as: as.token })

  async function codeFor(email: string): Promise<string> {
    const before = smtp.mails.length
    expect((await call('GET', `/api/verification?email=${encodeURIComponent(email)}`)).json.success).toBe(true)
    const mails = await smtp.arrived(before + 1)
    return /\b\d{6}\b/.exec(mails.at(-1)?.text ?? '')?.[0] ?? ''
  }

  async function linkFor(email: string): Promise<string> {
    const before = smtp.mails.length
    expect((await call('GET', `/api/reset_password?email=${encodeURIComponent(email)}`)).json.success).toBe(true)
    const mails = await smtp.arrived(before + 1)
    return /token=(\w+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  }

  const own = (email: string, id = user.id) =>
    set.api.store.write((trx) => trx.updateTable('users').set({ email }).where('id', '=', id).execute())

  test('replayed codes: a verification code binds an email address once, and works for no other address, account or purpose', async () => {
    const code = await codeFor('a@example.com')
    const other = await set.person()
    expect((await bindMail('b@example.com', code, user)).json.success).toBe(false)
    expect(
      (await call('POST', '/api/user/reset', { body: { email: 'a@example.com', token: code } })).json.success,
    ).toBe(false)
    expect((await bindMail('a@example.com', code, user)).json.success).toBe(true)
    expect((await bindMail('a@example.com', code, user)).json.success).toBe(false)
    expect((await bindMail('a@example.com', code, other)).json.success).toBe(false)
  })

  test('replayed codes: a reset link works once, and stops working when a newer one is sent or it expires', async () => {
    await own('a@example.com')
    const reset = (token: string) => call('POST', '/api/user/reset', { body: { email: 'a@example.com', token } })
    const first = await linkFor('a@example.com')
    set.api.time.ms += 31_000
    const second = await linkFor('a@example.com')
    expect((await reset(first)).json.success).toBe(false)
    expect((await reset(second)).json.success).toBe(true)
    expect((await reset(second)).json.success).toBe(false)
    set.api.time.ms += 31_000
    const third = await linkFor('a@example.com')
    set.api.time.ms += 601_000
    expect((await reset(third)).json.success).toBe(false)
  })

  test('replayed codes: when one reset link is used many times concurrently, only one request receives a password', async () => {
    await own('a@example.com')
    const token = await linkFor('a@example.com')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', '/api/user/reset', { body: { email: 'a@example.com', token } })),
    )
    expect(answers.filter(({ json }) => json.success)).toHaveLength(1)
  })

  test('8.6-10 codes: five wrong attempts invalidate a code, an email address in use cannot be bound, and a reset link works for one account', async () => {
    const code = await codeFor('a@example.com')
    const wrong = code === '123456' ? '654321' : '123456'
    for (let tries = 0; tries < 5; tries++)
      expect((await bindMail('a@example.com', wrong, user)).json.success).toBe(false)
    expect((await bindMail('a@example.com', code, user)).json.success).toBe(false)

    const other = await set.person()
    set.api.time.ms += 31_000
    const late = await codeFor('c@example.com')
    await own('C@example.com', other.id)
    expect((await bindMail('c@example.com', late, user)).json.success).toBe(false)

    // Two imported accounts share an address: the link for one account changes only that account.
    await own('shared@example.com', user.id)
    await own('shared@example.com', other.id)
    const before = new Map((await set.rows('users')).map((row) => [row['id'], row['password']]))
    const sent = smtp.mails.length
    await call('GET', '/api/reset_password?email=shared@example.com')
    const mails = (await smtp.arrived(sent + 2)).slice(sent)
    const token = /token=(\w+)/.exec(mails[0]?.text ?? '')?.[1] ?? ''
    expect((await call('POST', '/api/user/reset', { body: { email: 'shared@example.com', token } })).json.success).toBe(
      true,
    )
    const changed = (await set.rows('users')).filter((row) => before.get(row['id']) !== row['password'])
    expect(changed).toHaveLength(1)
  })

  test('8.6-16 a solved challenge works for one call, and does not stay valid for the session', async () => {
    await using turnstile = await startTurnstile()
    await setOptions(set.api, {
      TurnstileVerifyURL: turnstile.url,
      TurnstileSecretKey: turnstile.secret,
      TurnstileSiteKey: 'site',
      TurnstileCheckEnabled: 'true',
    })
    const answer = turnstile.solve()
    const register = (username: string, turnstileAnswer: string, cookie = '') =>
      call('POST', `/api/user/register?turnstile=${turnstileAnswer}`, {
        cookie,
        body: { username, password: 'long enough' },
      })
    const first = await register('one', answer)
    expect(first.json.success).toBe(true)
    expect((await register('two', answer, cookieOf(first))).json.success).toBe(false)
    expect((await register('two', '', await set.session(user))).json.success).toBe(false)
    expect((await call('GET', `/api/verification?email=x@example.com&turnstile=${answer}`)).json.success).toBe(false)
    expect((await call('GET', `/api/reset_password?email=x@example.com&turnstile=${answer}`)).json.success).toBe(false)
    expect((await set.rows('users')).filter((row) => row['username'] === 'two')).toEqual([])
  })

  test('8.5-12 an external login is refused if its state was not issued to this browser, or was already used', async () => {
    await using hub = await startOAuthServer()
    await setOptions(set.api, {
      GitHubOAuthBaseURL: hub.url,
      GitHubApiBaseURL: hub.url,
      GitHubClientId: hub.clientId,
      GitHubClientSecret: hub.clientSecret,
      GitHubOAuthEnabled: 'true',
    })
    const attacker = { id: 7, login: 'attacker' }
    const cookie = await set.session(user)
    const asked = await call('GET', '/api/oauth/state')
    const browser = cookieOf(asked, 'oauth_state')
    const callback = (code: string, state: string, cookies: string) =>
      call('GET', `/api/oauth/github?code=${code}&state=${state}`, { cookie: cookies })

    // The victim is sent to the attacker's callback URL with no state, with a made-up state, and with the attacker's
    // own state.
    for (const state of ['', 's'.repeat(33), asked.json.data]) {
      for (const cookies of [cookie, '', `${cookie}; oauth_state=${'B'.repeat(43)}`]) {
        const answer = await callback(hub.plainCode(attacker), state, cookies)
        expect([state, cookies === '', answer.status, answer.json.success]).toEqual([state, cookies === '', 403, false])
      }
    }
    expect((await set.rows('users')).filter((row) => row['github_id'] !== '')).toEqual([])
    // A state is bound to the browser that requested it, and works once.
    const fresh = await call('GET', '/api/oauth/state')
    const own = cookieOf(fresh, 'oauth_state')
    expect(own).not.toBe(browser)
    expect((await callback(hub.plainCode(attacker), fresh.json.data, own)).json.success).toBe(true)
    expect((await callback(hub.plainCode(attacker), fresh.json.data, own)).status).toBe(403)
  })

  test('replayed codes: a WeChat or OAuth code cannot be used for a second login', async () => {
    await using helper = await startWeChatHelper()
    await setOptions(set.api, {
      WeChatServerAddress: helper.url,
      WeChatServerToken: helper.token,
      WeChatAuthEnabled: 'true',
    })
    const code = helper.codeFor('wx-1')
    expect((await call('GET', `/api/oauth/wechat?code=${code}`)).json.success).toBe(true)
    const again = await call('GET', `/api/oauth/wechat?code=${code}`)
    expect([again.json.success, again.headers.getSetCookie()]).toEqual([false, []])
    expect((await call('GET', `/api/oauth/wechat/bind?code=${code}`, { as: user.token })).json.success).toBe(false)
  })

  test('8.5-2 a redemption code that one or several users send many times at once is credited only once', async () => {
    const admin = await set.person(10)
    const { code } = await belongings(set, user, admin)
    const people = [user, ...(await Promise.all(Array.from({ length: 4 }, () => set.person())))]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_unused, at) =>
        call('POST', '/api/user/topup', { as: people[at % people.length]?.token ?? '', body: { key: code } }),
      ),
    )
    expect(answers.filter(({ json }) => json.success)).toHaveLength(1)
    const ids = new Set(people.map(({ id }) => id))
    const sum = (await set.rows('users'))
      .filter((row) => ids.has(Number(row['id'])))
      .reduce((all, row) => all + Number(row['quota']), 0)
    expect(sum).toBe(people.length * 1000 + 70)
  })
})

import { expect } from 'bun:test'
import { cookieOf } from '../../helpers/api-app.ts'
import { expectRecord } from './shapes.ts'
import type { Person, Walk } from './walker.ts'

const password = 'a good password'

/** Turns on everything that registration can require, with local services in place of the external ones. */
export async function openTheDoors(walk: Walk): Promise<void> {
  const { mail, oauth, wechat, turnstile } = walk.services
  await walk.setOptions({
    SMTPServer: '127.0.0.1',
    SMTPPort: String(mail.port),
    SMTPAccount: 'mailer',
    SMTPToken: 'mail secret',
    SMTPFrom: 'gate@example.com',
    ServerAddress: 'https://gate.example',
    EmailVerificationEnabled: 'true',
    TurnstileVerifyURL: turnstile.url,
    TurnstileSiteKey: 'site key',
    TurnstileSecretKey: turnstile.secret,
    TurnstileCheckEnabled: 'true',
    GitHubOAuthBaseURL: oauth.url,
    GitHubApiBaseURL: oauth.url,
    GitHubClientId: oauth.clientId,
    GitHubClientSecret: oauth.clientSecret,
    GitHubOAuthEnabled: 'true',
    WeChatServerAddress: wechat.url,
    WeChatServerToken: wechat.token,
    WeChatAuthEnabled: 'true',
    QuotaForNewUser: '1000',
    QuotaForInviter: '30',
    QuotaForInvitee: '20',
  })
}

/** Waits for the latest mail to an address and returns its text. */
async function mailTo(walk: Walk, address: string): Promise<string> {
  const { mail } = walk.services
  for (let count = mail.mails.length; ; count = mail.mails.length + 1) {
    const found = mail.mails.findLast(({ to }) => to.includes(address))
    if (found) return found.text
    await mail.arrived(count)
  }
}

async function verificationCode(walk: Walk, email: string): Promise<string> {
  const turnstile = walk.services.turnstile.solve()
  expect(
    await walk.ok('GET /api/verification?email={email}&turnstile={turnstile}', { email, turnstile }),
  ).toBeUndefined()
  return /\b\d{6}\b/.exec(await mailTo(walk, email))?.[0] ?? ''
}

/** Registration, login, the user's own account, and its deletion. */
export async function walkAccounts(walk: Walk): Promise<void> {
  const { turnstile } = walk.services
  const username = `reg${walk.mark}`
  const email = `reg+${walk.mark}@example.com`
  const code = await verificationCode(walk, email)
  const inviteCode = await walk.ok('GET /api/user/aff', {}, undefined, walk.root)
  expect(inviteCode).toMatch(/^\w{4,}$/)
  const body = { username, password, password2: password, email, verification_code: code, aff_code: inviteCode }
  const register = 'POST /api/user/register?turnstile={turnstile}'
  await walk.refused(register, { turnstile: 'not solved' }, body)
  expect(await walk.ok(register, { turnstile: turnstile.solve() }, body)).toBeUndefined()
  await walk.refused(register, { turnstile: turnstile.solve() }, body)

  const login = await walk.call('POST /api/user/login', {}, { username, password })
  expectRecord('user', login.json.data)
  expect(login.json.data).toMatchObject({ username, display_name: username, role: 1, status: 1 })
  await walk.refused('POST /api/user/login', {}, { username, password: 'wrong password' })
  const me = await walk.logIn(username, password)
  const self = await walk.ok('GET /api/user/self', {}, undefined, me)
  expectRecord('user', self)
  expect(self).toMatchObject({
    username,
    email,
    role: 1,
    status: 1,
    quota: 1020,
    used_quota: 0,
    request_count: 0,
    group: 'default',
  })

  expect(
    await walk.ok('PUT /api/user/self', {}, { username, display_name: 'Somebody', password: '' }, me),
  ).toBeUndefined()
  expect(await walk.ok('GET /api/user/self', {}, undefined, me)).toMatchObject({ display_name: 'Somebody' })
  await walkAccessToken(walk, me)
  await walkLeaving(walk, me, username)
}

async function walkAccessToken(walk: Walk, me: Person): Promise<void> {
  const token = await walk.ok('GET /api/user/token', {}, undefined, me)
  expect(token).toMatch(/^[0-9a-f]{32}$/)
  // The new access token replaces the old one.
  if (walk.kind === 'access token') {
    await walk.refused('GET /api/user/self', {}, undefined, { ...me })
    me.headers = { authorization: `Bearer ${token}` }
  }
  const raw = { username: me.username, headers: { authorization: token } }
  expect(await walk.ok('GET /api/user/self', {}, undefined, raw)).toMatchObject({ username: me.username })
}

/** Binds an email address, logs out and deletes the account. */
async function walkLeaving(walk: Walk, me: Person, username: string): Promise<void> {
  const email = `bind+${walk.mark}@example.com`
  const bind = 'GET /api/oauth/email/bind?email={email}&code={code}'
  const code = await verificationCode(walk, email)
  await walk.refused(bind, { email, code: code === '000000' ? '111111' : '000000' }, undefined, me)
  expect(await walk.ok(bind, { email, code }, undefined, me)).toBeUndefined()
  expect(await walk.ok('GET /api/user/self', {}, undefined, me)).toMatchObject({ email })

  const again = await walk.logIn(username, password)
  expect(await walk.ok('GET /api/user/logout', {}, undefined, again)).toBeUndefined()
  expect(await walk.ok('GET /api/user/logout')).toBeUndefined()
  // Logging out ends the session. An access token does not depend on the session.
  if (walk.kind === 'cookie') await walk.refused('GET /api/user/self', {}, undefined, again, 401)
  else await walk.ok('GET /api/user/self', {}, undefined, again)
  const last = await walk.logIn(username, password)
  expect(await walk.ok('DELETE /api/user/self', {}, undefined, last)).toBeUndefined()
  await walk.refused('POST /api/user/login', {}, { username, password })
  await walk.refused('DELETE /api/user/self', {}, undefined, walk.root)
}

/** Logins and bindings through the two external services. */
export async function walkOutside(walk: Walk, binder: Person): Promise<void> {
  const { oauth, wechat } = walk.services
  const github = 'GET /api/oauth/github?code={code}'
  const email = `octo+${walk.mark}@example.com`
  const person = { id: walk.form === 'as written' ? 41 : 42, login: `octo-${walk.mark}`, email }

  // Clients from before 0.5.5 send no state, which is refused unless the administrator allows it.
  await walk.refused(github, { code: oauth.plainCode(person) }, undefined, undefined, 403)
  await walk.setOptions({ OAuthStateOptional: 'true' })
  const old = await walk.ok(github, { code: oauth.plainCode(person) })
  expectRecord('user', old)
  expect(old.username).toContain('github_')
  expect(old).toMatchObject({ role: 1, status: 1 })
  await walk.setOptions({ OAuthStateOptional: 'false' })
  await walk.refused(github, { code: oauth.plainCode(person) }, undefined, undefined, 403)

  const asked = await walk.call('GET /api/oauth/state')
  expect(asked.json).toMatchObject({ success: true, message: '' })
  const browser = cookieOf(asked, 'oauth_state')
  const address = `${oauth.url}/login/oauth/authorize?client_id=${oauth.clientId}&scope=user:email&state=${asked.json.data}`
  const back = oauth.agree(address, person)
  const callback = `/api/oauth/github?code=${back.code}&state=${back.state}`
  const login = await walk.fetch('GET', callback, undefined, { cookie: browser })
  expect(login.json).toMatchObject({ success: true, message: '', data: { username: old.username } })
  expect(cookieOf(login)).not.toBe('')
  await bindGitHub(walk, binder)
  await walkReset(walk, email, old.username)

  const bind = 'GET /api/oauth/wechat/bind?code={code}'
  const wechatLogin = 'GET /api/oauth/wechat?code={code}'
  const user = await walk.ok(wechatLogin, { code: wechat.codeFor(`wx-${walk.mark}`) })
  expectRecord('user', user)
  expect(user.username).toContain('wechat_')
  await walk.refused(wechatLogin, { code: 'no such code' })
  expect(await walk.ok(bind, { code: wechat.codeFor(`wx-bind-${walk.mark}`) }, undefined, binder)).toBeUndefined()
  await walk.refused(bind, { code: wechat.codeFor(`wx-${walk.mark}`) }, undefined, binder)
}

/** Binds a GitHub account to a logged-in user, and checks that the message is the one that clients expect. */
async function bindGitHub(walk: Walk, binder: Person): Promise<void> {
  const { oauth } = walk.services
  const asked = await walk.call('GET /api/oauth/state')
  const person = { id: walk.form === 'as written' ? 51 : 52, login: `binder-${walk.mark}` }
  const address = `${oauth.url}/?client_id=${oauth.clientId}&scope=user:email&state=${asked.json.data}`
  const { code, state } = oauth.agree(address, person)
  const cookies = [cookieOf(asked, 'oauth_state'), binder.headers['cookie']].filter(Boolean).join('; ')
  const bound = await walk.fetch('GET', `/api/oauth/github?code=${code}&state=${state}`, undefined, {
    ...binder.headers,
    cookie: cookies,
  })
  expect(bound.json).toEqual({ success: true, message: 'bind' })
  expect(await walk.ok('GET /api/user/self', {}, undefined, binder)).toMatchObject({ github_id: person.login })
}

/** Resets a password by email, for an account that has no password. */
async function walkReset(walk: Walk, email: string, username: string): Promise<void> {
  const turnstile = walk.services.turnstile.solve()
  const ask = 'GET /api/reset_password?email={email}&turnstile={turnstile}'
  await walk.refused(ask, { email })
  expect(await walk.ok(ask, { email, turnstile })).toBeUndefined()
  const link = /https:\/\/gate\.example\/user\/reset\?\S+/.exec(await mailTo(walk, email))?.[0] ?? ''
  const query = new URL(link).searchParams
  expect(query.get('email')).toBe(email)
  await walk.refused('POST /api/user/reset', {}, { email, token: 'x'.repeat(32) })
  const fresh = await walk.ok('POST /api/user/reset', {}, { email, token: query.get('token') })
  expect(fresh).toMatch(/^\w{12}$/)
  await walk.refused('POST /api/user/reset', {}, { email, token: query.get('token') })
  await walk.logIn(username, fresh)
}

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../../../test/helpers/mail-server.ts'
import { realPasswords } from '../../../test/helpers/real-passwords.ts'
import { hashPassword } from '../../lib/secrets/password.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let smtp: MailServer

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    smtp = await startMailServer()
    await mailThrough(api, smtp)
  })
  afterEach(async () => {
    await api.mailer.idle()
    await smtp[Symbol.asyncDispose]()
    await api.store.close()
  })

  const get = (path: string, email: string, headers: Record<string, string> = {}) =>
    api.call('GET', `${path}?email=${encodeURIComponent(email)}`, { headers })
  const ask = (email: string, headers = {}) => get('/api/reset_password', email, headers)
  const verify = (email: string, headers = {}) => get('/api/verification', email, headers)
  const reset = (email: string, token: string) => api.call('POST', '/api/user/reset', { body: { email, token } })
  const login = (username: string, given: string) =>
    api.call('POST', '/api/user/login', { body: { username, password: given } })
  /** The link in the newest email that contains one, parsed as a browser would parse it. */
  const linkOf = (text = '') => new URL(/https:\/\/\S+\/user\/reset\?\S+/.exec(text)?.[0] ?? '')

  async function addAda(email: string, fields: { username?: string; role?: number } = {}) {
    const person = await api.addPerson({ username: 'ada', password: hash, ...fields })
    await api.store.write((trx) => trx.updateTable('users').set({ email }).where('id', '=', person.id).execute())
    return person
  }

  test('a reset link sets a new password once, ends sessions and invalidates the access token', async () => {
    const ada = await addAda('Ada+gate@example.com')
    const cookie = cookieOf(await login('ada', password))
    expect((await ask('ada+gate@example.com')).json).toEqual({ success: true, message: '' })
    const [mail] = await smtp.arrived(1)
    expect(mail?.to).toEqual(['Ada+gate@example.com'])
    const link = linkOf(mail?.text)
    expect([link.origin, link.pathname]).toEqual(['https://gate.example', '/user/reset'])
    // The console reads the link in the same way. An unencoded plus would have become a space here.
    const email = link.searchParams.get('email') ?? ''
    const token = link.searchParams.get('token') ?? ''
    expect(email).toBe('Ada+gate@example.com')
    expect(mail?.html).toContain(link.href.replaceAll('&', '&amp;'))

    const { json } = await reset(email, token)
    expect(json).toEqual({ success: true, message: '', data: expect.stringMatching(/^[0-9A-Za-z]{12}$/) })
    expect((await login('ada', password)).json.success).toBe(false)
    expect((await login('ada', json.data)).json.success).toBe(true)
    expect((await api.call('GET', '/api/user/self', { cookie })).status).toBe(401)
    expect((await api.call('GET', '/api/user/self', { as: ada.token })).json.success).toBe(false)
    expect((await reset(email, token)).json.success).toBe(false)
    const trail = await api.store.read.selectFrom('audit_events').selectAll().execute()
    expect(trail).toContainEqual(expect.objectContaining({ action: 'user.reset-password', target: `user ${ada.id}` }))
    expect(JSON.stringify(trail)).not.toContain(json.data)
  })

  test('requesting a reset does not reveal who has an account', async () => {
    await addAda('ada@example.com')
    await addAda('banned@example.com', { username: 'banned' })
    await api.store.write((trx) =>
      trx.updateTable('users').set({ status: 2 }).where('username', '=', 'banned').execute(),
    )
    const answers = [await ask('nobody@example.com'), await ask('banned@example.com'), await ask('ada@example.com')]
    for (const answer of answers) expect([answer.status, answer.json]).toEqual([200, { success: true, message: '' }])
    // The limit on emails does not reveal who has an account either, because each request is counted before the address
    // is looked up.
    for (const email of ['nobody@example.com', 'ada@example.com']) expect((await ask(email)).status).toBe(429)
    await api.mailer.idle()
    expect(smtp.mails.map(({ to }) => to)).toEqual([['ada@example.com']])
    for (const token of ['', 'wrong']) {
      const [unknown, known] = [await reset('nobody@example.com', token), await reset('ada@example.com', token)]
      expect(unknown.json).toEqual(known.json)
      expect(unknown.json.success).toBe(false)
    }
  })

  test('if an address is taken, only its owner learns this, from the verification email', async () => {
    await addAda('ada@example.com')
    const [taken, free] = [await verify('Ada@example.com'), await verify('free@example.com')]
    expect(taken.json).toEqual(free.json)
    const mails = await smtp.arrived(2)
    expect(mails[0]?.text).toContain('already belongs to an account')
    expect(mails[0]?.text).toContain('https://gate.example/reset')
    expect(mails[0]?.text).not.toMatch(/\b\d{6}\b/)
    expect(mails[1]?.text).toMatch(/\b\d{6}\b/)
  })

  test('after five attempts with wrong tokens, the reset link is invalid, too', async () => {
    await addAda('ada@example.com')
    await ask('ada@example.com')
    const token = linkOf((await smtp.arrived(1))[0]?.text).searchParams.get('token') ?? ''
    for (let i = 0; i < 5; i++) expect((await reset('ada@example.com', `guess ${i}`)).json.success).toBe(false)
    expect((await reset('ada@example.com', token)).json.success).toBe(false)
    expect((await login('ada', password)).json.success).toBe(true)
  })

  test('a link is invalid after ten minutes, or once a newer link has been sent', async () => {
    await addAda('ada@example.com')
    const tokenOf = async (count: number) =>
      linkOf((await smtp.arrived(count))[count - 1]?.text).searchParams.get('token') ?? ''
    await ask('ada@example.com')
    const first = await tokenOf(1)
    api.time.ms += 60_000
    await ask('ada@example.com')
    const second = await tokenOf(2)
    expect((await reset('ada@example.com', first)).json.success).toBe(false)
    api.time.ms += 600_000
    expect((await reset('ada@example.com', second)).json.success).toBe(false)
  })

  test('if imported accounts share an address, each gets its own reset link, which resets only that account', async () => {
    await addAda('both@example.com')
    await addAda('BOTH@example.com', { username: 'bob' })
    await ask('both@example.com')
    const mails = await smtp.arrived(2)
    const mine = mails.find(({ text }) => text.includes('account bob'))
    const token = linkOf(mine?.text).searchParams.get('token') ?? ''
    const { data } = (await reset('both@example.com', token)).json
    expect((await login('bob', data)).json.success).toBe(true)
    expect((await login('ada', password)).json.success).toBe(true)
  })

  test('a code for verifying an address is not accepted for a password reset', async () => {
    await addAda('ada@example.com')
    await verify('free@example.com')
    const code = /\b\d{6}\b/.exec((await smtp.arrived(1))[0]?.text ?? '')?.[0] ?? ''
    expect((await reset('free@example.com', code)).json.success).toBe(false)
    expect((await reset('ada@example.com', code)).json.success).toBe(false)
  })

  test('an account without a password refuses an empty one, and a reset gives the account a password', async () => {
    const { id } = await api.addPerson({ username: 'github_9', password: '' })
    await api.store.write((trx) =>
      trx.updateTable('users').set({ email: 'nine@example.com' }).where('id', '=', id).execute(),
    )
    for (const given of ['', ' ']) expect((await login('github_9', given)).json.success).toBe(false)
    await ask('nine@example.com')
    const token = linkOf((await smtp.arrived(1))[0]?.text).searchParams.get('token') ?? ''
    const { data } = (await reset('nine@example.com', token)).json
    expect((await login('github_9', data)).json.success).toBe(true)
  })

  test('a link stays valid if it is used while too many passwords are being checked', async () => {
    using _real = realPasswords()
    await addAda('ada@example.com')
    await ask('ada@example.com')
    const token = linkOf((await smtp.arrived(1))[0]?.text).searchParams.get('token') ?? ''
    // At most two passwords are hashed at a time, and at most 32 more wait.
    const crowd = Array.from({ length: 34 }, () => hashPassword('somebody else'))
    expect((await reset('ada@example.com', token)).status).toBe(503)
    await Promise.all(crowd)
    const { data } = (await reset('ada@example.com', token)).json
    expect((await login('ada', data)).json.success).toBe(true)
  })

  test('an address gets at most one email in 30 seconds and ten a day, counting emails of all kinds', async () => {
    expect((await verify('a@example.com')).status).toBe(200)
    const refused = await ask('A@example.com')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('30')
    expect((await verify('b@example.com')).status).toBe(200)
    for (let i = 1; i < 10; i++) {
      api.time.ms += 30_000
      expect((await verify('a@example.com')).status).toBe(200)
    }
    api.time.ms += 30_000
    const late = await verify('a@example.com')
    expect(late.status).toBe(429)
    expect(Number(late.headers.get('retry-after'))).toBe(86_400 - 300)
    api.time.ms += 86_400_000 - 300_000
    expect((await verify('a@example.com')).status).toBe(200)
  })

  test('many simultaneous requests send one email', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify('a@example.com')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429, 429, 429])
    await api.mailer.idle()
    expect(smtp.mails).toHaveLength(1)
  })

  test('an invalid address is refused, but a plus that a client did not encode is accepted', async () => {
    for (const email of [
      '',
      'ada',
      'a@localhost',
      'a@b.co, c@d.co',
      'a@b.co\r\nBcc: c@d.co',
      '"x y"@b.co',
      '<a@b.co>',
      `${'a'.repeat(65)}@b.co`,
      'аdmin@example.com',
    ]) {
      const answer = await verify(email)
      expect([email, answer.status, answer.json.success]).toEqual([email, 200, false])
    }
    expect((await api.call('GET', '/api/verification?email=a+b@example.com')).json.success).toBe(true)
    expect((await smtp.arrived(1))[0]?.to).toEqual(['a+b@example.com'])
  })

  test('emails are in the language that the browser prefers, or else in the language of the option', async () => {
    await setOptions(api, { SystemName: 'My <Gate>' })
    await verify('a@example.com', { 'accept-language': 'fr, zh-CN;q=0.8, en;q=0.5' })
    await verify('b@example.com', { 'accept-language': 'fr' })
    await setOptions(api, { MailLanguage: 'zh' })
    await verify('c@example.com')
    const mails = await smtp.arrived(3)
    expect(mails.map((mail) => /您的验证码/.test(mail.headers.subject ?? ''))).toEqual([true, false, true])
    expect(mails[0]?.html).toContain('lang="zh-CN"')
    expect(mails[0]?.html).toContain('My &lt;Gate&gt;')
    expect(mails[0]?.html).not.toContain('<Gate>')
    expect(mails[0]?.headers.from).toContain('My <Gate>')
  })

  test('without a mail server, both calls that send emails return an error; a failure of the mail server is reported only to the operator', async () => {
    await setOptions(api, { SMTPToken: 'not the password' })
    const failed = await verify('a@example.com')
    expect(failed.json).toMatchObject({ success: false, message: 'The email could not be sent. Try again later.' })
    expect(api.warnings.join()).toContain('wrong account or password')
    expect(api.warnings.join()).not.toContain('not the password')
    await addAda('ada@example.com')
    expect((await ask('ada@example.com')).json.success).toBe(true)
    await api.mailer.idle()
    expect(api.warnings.join()).toContain('sending a reset mail failed')
    await setOptions(api, { SMTPServer: '' })
    for (const call of [verify, ask]) {
      expect((await call('x@example.com')).json.message).toBe('The administrator has not set up a mail server.')
    }
  })

  test('a page on another site cannot make a browser trigger emails', async () => {
    for (const call of [verify, ask]) {
      expect((await call('a@example.com', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    }
    expect(smtp.mails).toEqual([])
  })
})

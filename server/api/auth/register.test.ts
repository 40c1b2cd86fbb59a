import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../../../test/helpers/mail-server.ts'

const password = 'correct horse'

forEachDatabase((_, openFresh) => {
  let api: TestApi

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
  })
  afterEach(async () => {
    await api.mailer.idle()
    await api.store.close()
  })

  const register = (body: object, options: object = {}) =>
    api.call('POST', '/api/user/register', { body: { username: 'ada', password, ...body }, ...options })
  const users = () => api.store.read.selectFrom('users').selectAll().orderBy('id').execute()
  const logs = async () =>
    (await api.store.read.selectFrom('logs').select(['user_id', 'type', 'content']).orderBy('id').execute()).map(
      (row) => Object.values(row),
    )
  const code = (mail: { text: string } | undefined) => /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? ''

  async function withMail(work: (smtp: MailServer) => Promise<void>): Promise<void> {
    await using smtp = await startMailServer()
    await mailThrough(api, smtp)
    await setOptions(api, { EmailVerificationEnabled: 'true' })
    await work(smtp)
  }
  const sendCode = async (email: string) => {
    const answer = await api.call('GET', `/api/verification?email=${encodeURIComponent(email)}`)
    api.time.ms += 31_000
    return answer.json
  }

  test('creates an ordinary account without logging in, and ignores password2 and roles', async () => {
    const answer = await register({ password2: 'something else', role: 100, quota: 5, email: 'a@b.co' })
    expect(answer.json).toEqual({ success: true, message: '' })
    expect(answer.headers.getSetCookie()).toEqual([])
    const [user] = await users()
    expect(user).toMatchObject({ username: 'ada', display_name: 'ada', role: 1, status: 1, quota: 0, email: '' })
    expect(user?.password).toStartWith('$argon2id$')
    const login = await api.call('POST', '/api/user/login', { body: { username: 'ada', password } })
    expect(login.json.success).toBe(true)
    const events = await api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()
    expect(events[0]).toMatchObject({
      actor_name: 'ada',
      actor_id: user?.id,
      action: 'user.register',
      ip: '203.0.113.9',
    })
  })

  test('refuses invalid input and taken names with an understandable message', async () => {
    await register({})
    for (const [body, message] of [
      [{}, 'This username is already taken.'],
      [{ username: 'ADA' }, 'This username is already taken.'],
      [{ username: '' }, 'username must have 1 to 12 characters.'],
      [{ username: 'more than twelve' }, 'username must have 1 to 12 characters.'],
      [{ username: 'bob', password: 'short' }, 'password must have at least 8 characters.'],
      [{ username: 'bob', password: undefined }, 'password is missing.'],
      [{ username: 'a@b.co' }, 'username may contain only letters, digits, dots, hyphens and underscores.'],
    ] as const) {
      const answer = await register(body)
      expect([answer.status, answer.json]).toMatchObject([200, { success: false, message }])
    }
    expect(await users()).toHaveLength(1)
  })

  test('if many people register the same name at the same time, exactly one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => register({})))
    expect(answers.filter((answer) => answer.json.success)).toHaveLength(1)
    for (const answer of answers.filter(({ json }) => !json.success)) {
      expect(answer.json.message).toMatch(/already taken/)
    }
  })

  test('registration is refused while it is disabled, before the input is read', async () => {
    const refusals = {
      RegisterEnabled: 'Registration is closed.',
      PasswordRegisterEnabled: 'Registration with a password is turned off',
    }
    for (const [key, refusal] of Object.entries(refusals)) {
      await setOptions(api, { RegisterEnabled: 'true', PasswordRegisterEnabled: 'true', [key]: 'false' })
      const answer = await register({ username: '' })
      expect([answer.status, answer.json.success]).toEqual([200, false])
      expect(answer.json.message).toContain(refusal)
    }
  })

  test('gives the bonuses for new accounts, invited accounts and inviters, each with a log row', async () => {
    await setOptions(api, { QuotaForNewUser: '1000', QuotaForInvitee: '200', QuotaForInviter: '30' })
    await setOptions(api, { DisplayInCurrencyEnabled: 'false' })
    const inviter = await api.addPerson({ username: 'inviter', quota: 5 })
    const aff_code = (await api.call('GET', '/api/user/aff', { as: inviter.token })).json.data
    expect((await register({ aff_code })).json.success).toBe(true)
    const [first, second] = await users()
    expect(first).toMatchObject({ quota: 35, granted_quota: 35 })
    expect(second).toMatchObject({ quota: 1200, granted_quota: 1200, inviter_id: inviter.id })
    expect(await logs()).toEqual([
      [second?.id ?? 0, 4, 'New user bonus 1000 points'],
      [second?.id ?? 0, 4, 'Invite code bonus 200 points'],
      [inviter.id, 4, 'Bonus for inviting a user 30 points'],
    ])
  })

  test('an unknown invite code, or the code of a banned person, is ignored', async () => {
    await setOptions(api, { QuotaForInvitee: '200', QuotaForInviter: '30' })
    const inviter = await api.addPerson({ username: 'inviter', quota: 5 })
    const aff_code = (await api.call('GET', '/api/user/aff', { as: inviter.token })).json.data
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', inviter.id).execute())
    expect((await register({ aff_code })).json.success).toBe(true)
    expect((await register({ username: 'bob', aff_code: 'nobodys' })).json.success).toBe(true)
    expect((await register({ username: 'eve', aff_code: null })).json.success).toBe(true)
    expect((await users()).map(({ quota, inviter_id }) => [quota, inviter_id])).toEqual([
      [5, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    expect(await logs()).toEqual([])
  })

  test('with email verification, the emailed code is required, works once, and connects the address to the account', () =>
    withMail(async (smtp) => {
      const email = 'Ada.L+gate@example.com'
      expect((await register({})).json.message).toContain('Email verification')
      expect(await sendCode(email)).toEqual({ success: true, message: '' })
      const [mail] = await smtp.arrived(1)
      expect(mail?.to).toEqual([email])
      const verification_code = code(mail)
      expect((await register({ email, verification_code: '' })).json.success).toBe(false)
      expect((await register({ email: 'other@example.com', verification_code })).json.message).toContain('wrong')
      // A failed attempt with a name that is taken does not use up the code.
      await api.addPerson({ username: 'taken' })
      expect((await register({ username: 'taken', email, verification_code })).json.message).toContain('taken')
      expect((await register({ email, verification_code: ` ${verification_code} ` })).json.success).toBe(true)
      expect((await users()).at(-1)).toMatchObject({ username: 'ada', email })
      expect((await register({ username: 'bob', email, verification_code })).json.message).toContain('wrong')
    }))

  test('a code expires after five wrong attempts, and after ten minutes', () =>
    withMail(async (smtp) => {
      const email = 'ada@example.com'
      await sendCode(email)
      let verification_code = code((await smtp.arrived(1))[0])
      for (let i = 0; i < 5; i++) {
        const wrong = verification_code === '000000' ? '000001' : '000000'
        expect((await register({ email, verification_code: wrong })).json.success).toBe(false)
      }
      expect((await register({ email, verification_code })).json.success).toBe(false)
      await sendCode(email)
      verification_code = code((await smtp.arrived(2))[1])
      api.time.ms += 600_000
      expect((await register({ email, verification_code })).json.success).toBe(false)
      // A new code replaces the previous one.
      await sendCode(email)
      const replaced = code((await smtp.arrived(3))[2])
      await sendCode(email)
      verification_code = code((await smtp.arrived(4))[3])
      if (replaced !== verification_code) {
        expect((await register({ email, verification_code: replaced })).json.success).toBe(false)
      }
      expect((await register({ email, verification_code })).json.success).toBe(true)
    }))

  test('if one code is used many times simultaneously, exactly one use creates an account', () =>
    withMail(async (smtp) => {
      const email = 'ada@example.com'
      await sendCode(email)
      const verification_code = code((await smtp.arrived(1))[0])
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, i) => register({ username: `ada${i}`, email, verification_code })),
      )
      expect(answers.filter((answer) => answer.json.success)).toHaveLength(1)
      expect(await users()).toHaveLength(1)
    }))

  test('only addresses of listed domains may register, and domains must match exactly except for case', () =>
    withMail(async (smtp) => {
      await setOptions(api, { EmailDomainRestrictionEnabled: 'true', EmailDomainWhitelist: 'example.com, Other.org' })
      for (const email of ['a@sub.example.com', 'a@example.com.evil.net', 'a@notexample.com', 'a@gmail.com']) {
        expect([email, (await sendCode(email)).message]).toEqual([email, expect.stringContaining('this domain')])
        expect((await register({ email, verification_code: '123456' })).json.message).toContain('this domain')
      }
      await sendCode('a@EXAMPLE.com')
      await sendCode('a@other.org')
      const mails = await smtp.arrived(2)
      expect(mails).toHaveLength(2)
      const body = { email: 'a@other.org', verification_code: code(mails[1]) }
      expect((await register(body)).json.success).toBe(true)
    }))

  test('codes are stored only as hashes', () =>
    withMail(async (smtp) => {
      await sendCode('ada@example.com')
      const verification_code = code((await smtp.arrived(1))[0])
      const rows = await api.store.read.selectFrom('one_time_codes').selectAll().execute()
      expect(rows).toHaveLength(1)
      expect(JSON.stringify(rows.map(({ code_hash, subject }) => [code_hash, subject]))).not.toContain(
        verification_code,
      )
    }))

  test("the strict limit counts requests by the socket's address, whatever X-Forwarded-For contains", async () => {
    const off = { limit: 0, windowMs: 1000 }
    const strict = await createTestApi(api.store, {
      rateRules: { api: off, critical: { limit: 3, windowMs: 1_200_000 }, loginFailures: off },
    })
    const guess = (n: number, address = '192.0.2.1') =>
      strict.call('POST', '/api/user/register', {
        body: { username: '' },
        address,
        headers: { 'x-forwarded-for': `198.51.100.${n}`, 'x-real-ip': `198.51.100.${n}` },
      })
    for (let n = 0; n < 3; n++) expect((await guess(n)).status).toBe(200)
    expect((await guess(4)).status).toBe(429)
    expect((await strict.call('GET', '/api/reset_password?email=a@b.co', { address: '192.0.2.1' })).status).toBe(429)
    expect((await guess(5, '192.0.2.2')).status).toBe(200)
  })

  test('a page on another site cannot make a browser register', async () => {
    const answer = await register({}, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect(answer.status).toBe(403)
    expect(await users()).toEqual([])
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cookieOf, createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { realPasswords } from '../../../test/helpers/real-passwords.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { saveOption } from '../../store/installation/options.ts'

const password = 'correct horse'
const hash = await hashPassword(password)

forEachDatabase((_, openFresh) => {
  let api: TestApi

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
  })
  afterEach(() => api.store.close())

  const login = (username: string, given: string, address?: string) =>
    api.call('POST', '/api/user/login', { body: { username, password: given }, ...(address ? { address } : {}) })

  test('a login returns the account without secrets and starts a session', async () => {
    const { id } = await api.addPerson({ username: 'ada', password: hash, role: 10 })
    const answer = await login('ada', password)
    expect(answer.json).toMatchObject({
      success: true,
      message: '',
      data: { id, username: 'ada', display_name: 'ada', role: 10, status: 1, password: '', access_token: '' },
    })
    expect(JSON.stringify(answer.json)).not.toContain('argon2')
    expect((await api.call('GET', '/api/user/self', { cookie: cookieOf(answer) })).json.data.id).toBe(id)
  })

  test('an unknown user, a wrong password and a banned user get the same response', async () => {
    const { id } = await api.addPerson({ username: 'ada', password: hash })
    const wrong = await login('ada', 'wrong password')
    const unknown = await login('nobody', password)
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', id).execute())
    const banned = await login('ada', password)
    for (const answer of [wrong, unknown, banned]) {
      expect([answer.status, answer.json]).toMatchObject([200, { success: false, message: wrong.json.message }])
      expect(cookieOf(answer)).toBe('')
    }
  })

  test('of very many simultaneous logins, some wait and the rest get 503 with retry-after, whether or not the name exists', async () => {
    using _real = realPasswords()
    await api.addPerson({ username: 'ada', password: await hashPassword(password) })
    const names = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 'ada' : 'nobody'))
    const answers = await Promise.all(names.map((name) => login(name, password)))
    // Two logins in progress and 32 waiting logins are always served, no matter how slow the machine is.
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(34)
    const refused = new Set<string | undefined>()
    for (const [index, { status, headers, json }] of answers.entries()) {
      if (status === 200) expect(json.success).toBe(names[index] === 'ada')
      else expect([status, headers.get('retry-after'), json.success]).toEqual([503, '3', false])
      if (status !== 200) refused.add(names[index])
    }
    // Known and unknown names are refused alike.
    expect([...refused].toSorted()).toEqual(['ada', 'nobody'])
    expect((await login('ada', password)).json.success).toBe(true)
  }, 120_000)

  test('empty fields and accounts without a password are refused', async () => {
    await api.addPerson({ username: 'oauth' })
    expect((await login('oauth', '')).json.success).toBe(false)
    expect((await login('', password)).json.success).toBe(false)
    expect((await login('oauth', 'anything')).json.success).toBe(false)
    expect((await api.call('POST', '/api/user/login', { body: { username: 1 } })).json.success).toBe(false)
  })

  test('an email address logs in when exactly one account has it', async () => {
    const one = await api.addPerson({ username: 'ada', password: hash })
    const two = await api.addPerson({ username: 'bob', password: hash })
    const setEmail = (id: number, email: string) =>
      api.store.write((trx) => trx.updateTable('users').set({ email }).where('id', '=', id).execute())
    await setEmail(one.id, 'Ada@Example.com')
    expect((await login('ada@example.com', password)).json.data.username).toBe('ada')
    await setEmail(two.id, 'ada@example.com')
    expect((await login('ada@example.com', password)).json.success).toBe(false)
  })

  test('with password login disabled, only root can log in', async () => {
    await api.addPerson({ username: 'root', password: hash, role: 100 })
    await api.addPerson({ username: 'admin', password: hash, role: 10 })
    await api.store.write((trx) => saveOption(trx, 'PasswordLoginEnabled', 'false'))
    await api.settings.reload()
    expect((await login('admin', password)).json.success).toBe(false)
    expect((await login('root', 'wrong password')).json.success).toBe(false)
    expect((await login('root', password)).json.success).toBe(true)
  })

  test('a login ends the session that the browser already has', async () => {
    await api.addPerson({ username: 'ada', password: hash })
    const cookie = cookieOf(await login('ada', password))
    await api.call('POST', '/api/user/login', { body: { username: 'ada', password }, cookie })
    expect((await api.call('GET', '/api/user/self', { cookie })).status).toBe(401)
  })

  test('guessing the password of an account is blocked only for the address that guesses', async () => {
    const strict = await createTestApi(api.store, {
      rateRules: { critical: { limit: 0, windowMs: 1 }, loginFailures: { limit: 3, windowMs: 60_000 } },
    })
    await api.addPerson({ username: 'ada', password: hash })
    const guess = (address: string, given: string) =>
      strict.call('POST', '/api/user/login', { body: { username: 'ada', password: given }, address })
    for (let i = 0; i < 3; i++) expect((await guess('192.0.2.1', `guess ${i}`)).status).toBe(200)
    const refused = await guess('192.0.2.1', password)
    expect(refused.status).toBe(429)
    expect(refused.json.success).toBe(false)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await guess('192.0.2.2', password)).json.success).toBe(true)
  })

  test('failures with all spellings of one name are counted together', async () => {
    const strict = await createTestApi(api.store, {
      rateRules: { critical: { limit: 0, windowMs: 1 }, loginFailures: { limit: 3, windowMs: 60_000 } },
    })
    const guess = (username: string) =>
      strict.call('POST', '/api/user/login', { body: { username, password: 'a guess' }, address: '192.0.2.1' })
    for (const name of ['ada', 'ａda', 'aｄa']) expect((await guess(name)).status).toBe(200)
    for (const name of ['adａ', 'ADA', 'ada']) expect((await guess(name)).status).toBe(429)
    expect((await guess('bob')).status).toBe(200)
  })

  test('an imported bcrypt hash is replaced at the first login', async () => {
    const bcrypt = await Bun.password.hash(password, { algorithm: 'bcrypt', cost: 4 })
    const { id } = await api.addPerson({ username: 'old', password: bcrypt })
    expect((await login('old', password)).json.success).toBe(true)
    const row = await api.store.read
      .selectFrom('users')
      .select('password')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.password).toStartWith('$argon2id$')
    expect((await login('old', password)).json.success).toBe(true)
  })

  test('logins and failures leave an audit log without passwords', async () => {
    await api.addPerson({ username: 'ada', password: hash })
    await login('ada', 'wrong password')
    await login('ada', password)
    const rows = await api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()
    expect(rows.map((row) => [row.action, row.actor_name, row.ip])).toEqual([
      ['login.fail', 'ada', '203.0.113.9'],
      ['login', 'ada', '203.0.113.9'],
    ])
    expect(JSON.stringify(rows)).not.toMatch(/wrong password|correct horse/)
  })
})

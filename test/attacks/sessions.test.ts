// Users whose access has ended, and which of a user's secrets appear in responses. Numbers in titles, such as 8.5-14,
// are items of table.md.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { type Attacker, password, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let person: Attacker
  let root: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    person = await set.person(10)
    root = await set.person(100)
  })
  afterEach(() => set.api.store.close())

  const self = (as: { cookie: string } | { as: string }) => set.api.call('GET', '/api/user/self', as)
  const manage = (action: string) =>
    set.api.call('POST', '/api/user/manage', { as: root.token, body: { username: person.username, action } })

  test('8.5-14 from the next call on, a ban or a deletion permanently invalidates the cookie and the access token', async () => {
    const cookie = await set.session(person)
    await manage('disable')
    for (const how of [{ cookie }, { as: person.token }]) expect((await self(how)).json.success).toBe(false)
    expect(
      (await set.api.call('POST', '/api/user/login', { body: { username: person.username, password } })).json.success,
    ).toBe(false)
    await manage('enable')
    // Lifting the ban does not revive a session from before the ban.
    expect((await self({ cookie })).status).toBe(401)
    const next = await set.session(person)
    expect((await self({ cookie: next })).json.success).toBe(true)
    await manage('delete')
    for (const how of [{ cookie: next }, { as: person.token }]) expect((await self(how)).json.success).toBe(false)
    // A new user with the same name does not inherit the session or the access token.
    const body = { username: person.username, password: 'long enough' }
    expect((await set.api.call('POST', '/api/user/', { as: root.token, body })).json.success).toBe(true)
    for (const how of [{ cookie: next }, { as: person.token }]) expect((await self(how)).json.success).toBe(false)
  })

  test('a login that was in progress when the account was banned leaves no session behind', async () => {
    for (let round = 0; round < 5; round++) {
      const login = set.session(person)
      await manage('disable')
      await login
      await manage('enable')
      const left = (await set.rows('sessions')).filter((row) => row['user_id'] === person.id)
      expect([round, left]).toEqual([round, []])
    }
  })

  test('8.6-3 the role is read on every call: a demotion takes effect with the next call', async () => {
    const cookie = await set.session(person)
    expect((await set.api.call('GET', '/api/user/', { cookie })).json.success).toBe(true)
    await manage('demote')
    for (const how of [{ cookie }, { as: person.token }]) {
      for (const path of [
        '/api/user/',
        '/api/channel/',
        '/api/option/',
        '/api/redemption/',
        '/api/log/',
        '/api/audit/',
      ]) {
        expect([path, (await set.api.call('GET', path, how)).json.success]).toEqual([path, false])
      }
    }
  })

  test('8.5-6 8.5-15 8.5-19 no response contains an access token or a password hash, not even for root or the owner', async () => {
    const cookie = await set.session(root)
    const fresh = (await set.api.call('GET', '/api/user/token', { cookie })).json.data
    const secrets = [
      fresh,
      person.token,
      '$argon2',
      ...(await set.rows('users')).map((row) => String(row['access_token_hash'])),
    ]
    for (const path of [
      '/api/user/self',
      '/api/user/?p=0',
      '/api/user/search?keyword=user',
      `/api/user/${person.id}`,
      `/api/user/${root.id}`,
      '/api/audit/?size=100',
      '/api/option/',
      '/api/status',
    ]) {
      const answer = await set.api.call('GET', path, { cookie })
      expect([path, answer.json.success]).toEqual([path, true])
      for (const secret of secrets) expect([path, JSON.stringify(answer.json).includes(secret)]).toEqual([path, false])
    }
    const login = await set.api.call('POST', '/api/user/login', { body: { username: root.username, password } })
    expect(login.json.data).toMatchObject({ password: '', access_token: '' })
    const edited = await set.api.call('PUT', '/api/user/', {
      as: root.token,
      body: { id: person.id, display_name: 'x' },
    })
    for (const secret of secrets) expect(JSON.stringify(edited.json)).not.toContain(secret)
  })

  test('8.5-19 a session expires on its own, and after a logout a copy of its cookie is invalid too', async () => {
    const cookie = await set.session(person)
    set.api.time.ms += 31 * 86_400_000
    expect((await self({ cookie })).status).toBe(401)
    set.api.time.ms -= 31 * 86_400_000
    await set.api.call('GET', '/api/user/logout', { cookie })
    expect((await self({ cookie })).status).toBe(401)
  })

  test('8.6-15 an account that has no password refuses every login, including one with an empty password or an empty hash', async () => {
    const { username } = await set.api.addPerson({ password: '' })
    for (const guess of ['', ' ', 'null', 'undefined', '$argon2id$v=19$m=65536,t=2,p=1$$', '0']) {
      const { json, headers } = await set.api.call('POST', '/api/user/login', { body: { username, password: guess } })
      expect([guess, json.success, headers.getSetCookie()]).toEqual([guess, false, []])
    }
    for (const guess of [null, false, 0, [], {}]) {
      const { json } = await set.api.call('POST', '/api/user/login', { body: { username, password: guess } })
      expect([guess, json.success]).toEqual([guess, false])
    }
  })
})

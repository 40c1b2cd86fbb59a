import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import type { Store } from '../store/store.ts'
import { bootstrapRoot } from './bootstrap.ts'

const none = { initialRootPassword: undefined, initialRootToken: undefined, initialRootAccessToken: undefined }
const secrets = createSecrets('a secret key for tests only')

forEachDatabase((_, openFresh) => {
  let store: Store
  beforeEach(async () => {
    store = await openFresh()
  })
  afterEach(() => store.close())

  test('an empty database gets a root account with a random password, once', async () => {
    const first = await bootstrapRoot(store, secrets, none)
    expect(first.generatedPassword).toMatch(/^[0-9A-Za-z]{20}$/)
    expect(await bootstrapRoot(store, secrets, none)).toEqual({ created: false, generatedPassword: undefined })
    const api = await createTestApi(store)
    const login = await api.call('POST', '/api/user/login', {
      body: { username: 'root', password: first.generatedPassword },
    })
    expect(login.json.data).toMatchObject({ username: 'root', display_name: 'Root User', role: 100 })
    const users = await store.read.selectFrom('users').selectAll().execute()
    expect(users).toHaveLength(1)
    expect(users[0]).toMatchObject({ quota: 100_000_000_000, granted_quota: 100_000_000_000 })
    expect(JSON.stringify(users)).not.toContain(first.generatedPassword ?? '?')
  })

  test('the operator can choose the password, access token and relay token', async () => {
    const made = await bootstrapRoot(store, secrets, {
      initialRootPassword: 'chosen password',
      initialRootToken: 'abcdefgh12345678',
      initialRootAccessToken: 'chosen-access-token',
    })
    expect(made).toEqual({ created: true, generatedPassword: undefined })
    const api = await createTestApi(store)
    const tokens = (await api.call('GET', '/api/token/', { as: 'chosen-access-token' })).json.data
    expect(tokens).toHaveLength(1)
    expect(tokens[0]).toMatchObject({
      name: 'initial',
      key: 'abcdefgh12345678',
      unlimited_quota: true,
      expired_time: -1,
    })
  })

  test('if several processes start at the same time, exactly one creates the root account', async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => bootstrapRoot(store, secrets, none)))
    expect(results.filter((result) => result.created)).toHaveLength(1)
    expect(results.filter((result) => result.generatedPassword !== undefined)).toHaveLength(1)
    expect(await store.read.selectFrom('users').select('id').execute()).toHaveLength(1)
  })

  test('a secret key that does not belong to the database is detected immediately and named in the error', async () => {
    await bootstrapRoot(store, secrets, none)
    expect(bootstrapRoot(store, createSecrets('quite another secret key'), none)).rejects.toThrow('SECRET_KEY')
  })
})

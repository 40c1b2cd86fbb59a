// Two calls that take a secret: the test of a channel that is not saved, and the search for a token by its key.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { forEachDatabase } from '../helpers/databases.ts'
import { okModels, startFakeUpstream, status } from '../helpers/fake-upstream.ts'
import { startTestGateway } from '../helpers/test-gateway.ts'
import { type Attacker, belongings, type Scene, scene } from './setup.ts'

const secret = 'sk-secret-0123456789-abcdefghij'

test('a test of an unsaved channel stores nothing, and its result does not contain the channel’s key', async () => {
  await using gateway = await startTestGateway()
  await using upstream = await startFakeUpstream()
  const refusal = status(401, { message: `Incorrect API key provided: ${secret}.` })
  upstream.next(okModels(['gpt-4o', 'o3']), refusal)
  const body = { type: 8, key: secret, base_url: upstream.url, models: 'gpt-4o' }
  const report = await gateway.api<Record<string, unknown>>('POST', '/api/channel/probe', body)
  expect(report).toMatchObject({ ok: false, model: 'gpt-4o', models: ['gpt-4o', 'o3'], models_message: '' })
  expect(report['message']).toContain('Incorrect API key')
  expect(JSON.stringify(report)).not.toContain(secret)
  const { read } = gateway.context.store
  const tables = ['channels', 'channel_tests', 'channel_dead_keys', 'logs', 'audit_events', 'access_tokens'] as const
  for (const table of tables) {
    const rows = JSON.stringify(await read.selectFrom(table).selectAll().execute())
    expect([table, rows.includes('secret')]).toEqual([table, false])
  }
  expect(await read.selectFrom('channels').selectAll().execute()).toEqual([])
})

test('a test of an unsaved channel calls no host name that resolves to a metadata service', async () => {
  await using gateway = await startTestGateway({ resolve: async () => ['169.254.169.254'] })
  const body = { type: 8, key: secret, base_url: 'http://innocent.example.com', models: 'gpt-4o' }
  const report = await gateway.api<{ ok: boolean; models: string[]; message: string }>(
    'POST',
    '/api/channel/probe',
    body,
  )
  expect(report).toMatchObject({ ok: false, models: [] })
  expect(report.message).toContain('metadata service')
})

forEachDatabase((_, openFresh) => {
  let set: Scene
  let owner: Attacker
  let stranger: Attacker
  let admin: Attacker
  let token: { id: number; key: string }

  beforeEach(async () => {
    set = await scene(await openFresh())
    owner = await set.person()
    stranger = await set.person()
    admin = await set.person(10)
    token = (await belongings(set, owner, admin)).token
  })
  afterEach(() => set.api.store.close())

  const find = (key: unknown, as: Attacker) => set.api.call('POST', '/api/token/find', { as: as.token, body: { key } })

  test('its owner and admins can find a token by its whole key, and the response does not contain the key', async () => {
    for (const as of [owner, admin]) {
      for (const spelling of [`sk-${token.key}`, token.key, ` sk-${token.key}\n`, `sk-${token.key}-7`]) {
        const { json } = await find(spelling, as)
        expect(json.data).toEqual({
          id: token.id,
          name: 'mine',
          status: 1,
          expired_time: -1,
          user_id: owner.id,
          username: owner.username,
        })
      }
    }
  })

  test('another user’s key is reported as unknown, exactly like a key that does not exist or a part of a key', async () => {
    const unknown = { success: false, code: 'key_without_token', message: 'No token has this key.' }
    expect((await find(`sk-${token.key}`, stranger)).json).toEqual(unknown)
    expect((await find(`sk-${'a'.repeat(48)}`, owner)).json).toEqual(unknown)
    for (const part of [token.key.slice(0, 47), token.key.slice(1), token.key.toUpperCase()])
      expect((await find(part, owner)).json).toEqual(unknown)
  })

  test('a search for text that does not have the form of a key is refused, and the number of searches is limited', async () => {
    for (const key of [
      '',
      'sk-',
      'short',
      '%'.repeat(48),
      'a'.repeat(201),
      { like: '%' },
      7,
      null,
      "' or 1=1 --------",
    ])
      expect((await find(key, owner)).json.success).toBe(false)
    let last = 200
    for (let tries = 0; tries < 25; tries++) last = (await find('a'.repeat(48), stranger)).status
    expect(last).toBe(429)
    // The limit applies to each user, so a user who tries many keys does not keep others from finding theirs.
    expect((await find(token.key, owner)).json.success).toBe(true)
  })

  test('a lookup does not record the key anywhere', async () => {
    await find(`sk-${token.key}`, admin)
    const events = await set.api.store.read.selectFrom('audit_events').selectAll().execute()
    expect(JSON.stringify([events, await set.rows('logs'), set.api.warnings])).not.toContain(token.key)
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { providers } from '../../providers/registry.ts'

/** A key in the form that each type expects, and the name of that form in the message. */
const forms = [
  { type: 15, key: 'api-key|secret-key', form: 'APIKey|SecretKey' },
  { type: 15, key: 'bce-v3/ALTAK-abc/def', form: 'APIKey|SecretKey' },
  { type: 16, key: 'id.secret', form: 'id.secret' },
  { type: 18, key: 'app|secret|key', form: 'APPID|APISecret|APIKey' },
  { type: 23, key: 'app|id|key', form: 'AppId|SecretId|SecretKey' },
  { type: 33, key: 'AK|SK|us-east-1', form: 'AccessKey|SecretKey|region' },
  {
    type: 42,
    key: 'us-east5|project|{"client_email":"a","private_key":"b"}',
    form: 'region|project_id|service-account JSON',
  },
] as const

const wrong = 'sk-just-one|word-too.many.dots|and-a|fourth'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { token: string }

  beforeEach(async () => {
    const catalogue = () => providers.map(({ meta }) => ({ ...meta, models: [...meta.models] }))
    api = await createTestApi(await openFresh(), { catalogue })
    admin = await api.addPerson({ role: 10 })
  })
  afterEach(() => api.store.close())

  const send = async (method: 'POST' | 'PUT', body: object) =>
    (await api.call(method, '/api/channel/', { as: admin.token, body })).json
  const create = (body: object) => send('POST', { name: 'one', models: 'm', ...body })
  const stored = () => api.store.read.selectFrom('channels').select(['id', 'key', 'type']).execute()

  test('refuses a channel whose key does not have the required form, with a message that describes the form and does not contain the key', async () => {
    for (const { type, key, form } of forms) {
      const refused = await create({ type, key: wrong })
      expect({ type, ...refused }).toMatchObject({ type, success: false })
      // The message is one sentence for every type.
      expect(refused.message).toMatch(/^The key must be .*\.$/)
      expect(refused.message).toContain(form)
      expect(refused.message).not.toContain('sk-just-one')
      expect((await create({ type, key })).success).toBe(true)
    }
    expect(await stored()).toHaveLength(forms.length)
  })

  test("keys that one-api’s console sends in `config` become the channel's key and stay secret", async () => {
    const account = JSON.stringify({ client_email: 'a', private_key: 'b' }, null, 2)
    const bodies = [
      { type: 33, config: { ak: 'AK', sk: 'SECRET', region: 'us-east-1' }, key: 'AK|SECRET|us-east-1' },
      {
        type: 42,
        config: { region: 'us-east5', vertex_ai_project_id: 'p', vertex_ai_adc: account },
        key: 'us-east5|p|{"client_email":"a","private_key":"b"}',
      },
    ]
    for (const { type, config, key } of bodies) {
      const [id] = (await create({ type, key: '', config: JSON.stringify(config) })).data
      const row = await api.store.read
        .selectFrom('channels')
        .select(['key', 'config'])
        .where('id', '=', id)
        .executeTakeFirst()
      expect(api.secrets.open(row?.key ?? '', 'channel')).toBe(key)
      expect(JSON.parse(row?.config ?? '')).toEqual({ region: config.region })
      // The keys in `config` are ignored if the request also has a key.
      expect((await send('PUT', { id, key: `${key} `, config: JSON.stringify(config) })).success).toBe(true)
    }
    const trail = await api.store.read.selectFrom('audit_events').select('detail').execute()
    expect(JSON.stringify(trail)).not.toMatch(/SECRET|private_key/)
  })

  test('each line of a key is checked, and one invalid line prevents the creation of every channel', async () => {
    for (const key_mode of ['single', 'multi']) {
      const refused = await create({ type: 16, key: 'id.secret\nno-dot', key_mode })
      expect(refused).toMatchObject({
        success: false,
        message: 'Line 2 of the key: The key must be id.secret, with one dot.',
      })
    }
    expect(await stored()).toEqual([])
    expect((await create({ type: 16, key: 'id.secret\nid2.secret2' })).data).toHaveLength(2)
  })

  test('a changed key is checked, and so is a kept key when the type changes', async () => {
    const [id] = (await create({ type: 16, key: 'id.secret' })).data
    const before = await stored()
    const refused = await send('PUT', { id, key: 'no-dot' })
    expect(refused).toMatchObject({ success: false, message: 'The key must be id.secret, with one dot.' })
    expect((await send('PUT', { id, type: 18 })).message).toContain('APPID|APISecret|APIKey')
    expect(await stored()).toEqual(before)
    expect((await send('PUT', { id, type: 18, key: 'app|secret|key' })).success).toBe(true)
    expect((await send('PUT', { id, name: 'two' })).success).toBe(true)
  })

  test('a channel with several keys refuses an additional key that is invalid', async () => {
    const [id] = (await create({ type: 16, key: 'id.secret\nid2.secret2', key_mode: 'multi' })).data
    const refused = await send('PUT', { id, key: 'no-dot', key_append: true })
    expect(refused).toMatchObject({
      success: false,
      message: 'Line 3 of the key: The key must be id.secret, with one dot.',
    })
    expect((await send('PUT', { id, key: 'id3.secret3', key_append: true })).data.key_count).toBe(3)
  })

  test('a type whose keys have no fixed form accepts every key', async () => {
    expect((await create({ type: 8, key: wrong })).success).toBe(true)
  })

  test('a key that cannot be sent in a header is refused', async () => {
    const refused = await create({ type: 1, key: 'sk-right\nsk-漢字', key_mode: 'multi' })
    expect(refused.message).toBe(
      'Line 2 of the key: The key contains characters that are not allowed in a header. Copy it again.',
    )
    expect(await stored()).toEqual([])
  })

  test('a changed key must be one line after trimming, unless it is a JSON file', async () => {
    const keyOf = async (id: number) => {
      const [row] = (await stored()).filter((each) => each.id === id)
      return api.secrets.open(row?.key ?? '', 'channel')
    }
    const [id] = (await create({ type: 1, key: 'sk-old' })).data
    for (const key of [
      'sk-aaa\nsk-bbb',
      'sk-aaa\r\nsk-bbb',
      'sk-aaa\rsk-bbb',
      'sk-{aaa\nsk-bbb}',
      '{"a":"b"}\nsk-bbb',
    ]) {
      expect(await send('PUT', { id, key })).toMatchObject({
        success: false,
        message: 'The key contains characters that are not allowed in a header. Copy it again.',
      })
      expect(await keyOf(id)).toBe('sk-old')
    }
    expect((await send('PUT', { id, key: ' \r\nsk-new\t\r\n\n' })).success).toBe(true)
    expect(await keyOf(id)).toBe('sk-new')
    const file = JSON.stringify({ client_email: 'a', private_key: 'b' }, null, 2)
    const [google] = (await create({ type: 42, key: 'us-east5|p|{"client_email":"a","private_key":"b"}' })).data
    for (const key of [file, `us-east5|p|${file}`]) {
      expect((await send('PUT', { id: google, key })).success).toBe(true)
      expect(await keyOf(google)).toBe(key)
    }
    expect((await send('PUT', { id: google, key: `us-east5\n|p|${file}` })).success).toBe(false)
  })

  test('for a channel with several keys, each line is a key, as for a new channel', async () => {
    const [id] = (await create({ type: 1, key: 'sk-old' })).data
    expect((await send('PUT', { id, key: 'sk-aaa\r\nsk-bbb\n', key_mode: 'multi' })).data.key_count).toBe(2)
    expect((await create({ type: 1, key: 'sk-ccc\r\nsk-ddd\n' })).data).toHaveLength(2)
  })

  test('the catalogue gives the form of every key that has one', async () => {
    const { json } = await api.call('GET', '/api/channel/types', { as: admin.token })
    const hints = new Map(json.data.map((entry: { type: number; keyHint: string }) => [entry.type, entry.keyHint]))
    for (const { type, form } of forms) expect(hints.get(type)).toContain(form)
  })
})

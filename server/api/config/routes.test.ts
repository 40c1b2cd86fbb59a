import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

const yaml = { 'content-type': 'application/yaml' }
const channel = (fields = '') => `
channels:
  - name: main
    type: openai
    key: sk-secret-one
    models: [gpt-4]
${fields}`

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let root: { token: string }
  let admin: { token: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    root = await api.addPerson({ username: 'root', role: 100 })
    admin = await api.addPerson({ username: 'admin', role: 10 })
  })
  afterEach(() => api.store.close())

  const put = (body: string, query = '', headers: Record<string, string> = yaml, as = root.token) =>
    api.call('PUT', `/api/config${query}`, { as, body, headers })
  const exported = async () => {
    const response = await api.app.request('/api/config', { headers: { authorization: root.token } })
    return { type: response.headers.get('content-type'), text: await response.text() }
  }

  test('a dry run lists the changes, a real run makes them, and applying the export changes nothing', async () => {
    const text = `version: 1\noptions: { SystemName: Acme, SMTPToken: pw-secret }${channel()}`
    const dry = (await put(text, '?dry_run=true')).json
    expect(dry).toMatchObject({ success: true, data: { applied: false } })
    expect(dry.data.changes.map(({ op, section, name }: Record<string, string>) => `${op} ${section} ${name}`)).toEqual(
      ['change options SMTPToken', 'change options SystemName', 'add channels main'],
    )
    expect(JSON.stringify(dry)).not.toMatch(/sk-secret|pw-secret/)
    expect((await api.call('GET', '/api/channel/', { as: root.token })).json.data).toEqual([])

    const done = (await put(text)).json
    expect(done).toMatchObject({ success: true, data: { applied: true, changes: dry.data.changes } })
    expect(api.settings.current().SystemName).toBe('Acme')
    expect(api.notices.map(({ topic }) => topic)).toContain('channels')
    const [shown] = (await api.call('GET', '/api/channel/', { as: admin.token })).json.data
    expect(shown).toMatchObject({ name: 'main', managed_by: 'PUT /api/config', key: '' })
    expect((await put(text)).json.data).toEqual({ changes: [], unlisted: [], applied: false })

    const { type, text: again } = await exported()
    expect(type).toStartWith('application/yaml')
    expect(again).not.toMatch(/secret/)
    expect(again).toStartWith('# yaml-language-server: $schema=http')
    expect((await put(again, '?prune=true')).json.data.changes).toEqual([])
    const asJson = JSON.stringify(parse(again))
    expect((await put(asJson, '', { 'content-type': 'application/json' })).json.data.changes).toEqual([])

    // Applying a file without the channel clears the channel's `managed_by`.
    expect((await put('version: 1\nchannels: []\n')).json.data.unlisted).toEqual([
      { section: 'channels', name: 'main' },
    ])
    expect((await api.call('GET', '/api/channel/', { as: root.token })).json.data[0].managed_by).toBe('')
    expect((await put('version: 1\nchannels: []\n', '?prune=true')).json.data.changes).toHaveLength(1)
    const events = await api.store.read.selectFrom('audit_events').selectAll().execute()
    expect(events.filter(({ action }) => action === 'config.apply').map(({ actor_name }) => actor_name)).toEqual([
      'root',
      'root',
    ])
    expect(JSON.stringify(events)).not.toMatch(/secret/)
  })

  test('a channel that the gateway disabled does not count as a difference, but a channel that a person disabled does', async () => {
    const text = `version: 1${channel('    enabled: true\n')}`
    await put(text)
    const setStatus = (status: number) =>
      api.store.write((trx) => trx.updateTable('channels').set({ status }).execute())
    await setStatus(3)
    expect((await put(text, '?dry_run=true')).json.data.changes).toEqual([])
    await setStatus(2)
    expect((await put(text, '?dry_run=true')).json.data.changes).toMatchObject([
      { op: 'change', name: 'main', fields: [{ field: 'enabled', before: 'false', after: 'true' }] },
    ])
    // If the file has no `enabled`, a channel that a person disabled does not count as a difference either.
    expect((await put(`version: 1${channel()}`, '?dry_run=true')).json.data.changes).toEqual([])
  })

  test('channel costs have their own section by channel name, are written as a whole, are exported, and are removed by --prune', async () => {
    const costs = (entry: string) => `version: 1${channel()}channel_costs:\n  main: ${entry}\n`
    const changes = async (text: string, query = '') => (await put(text, query)).json
    const full = '{ multiplier: 0.9, models: { gpt-4: { input: 2.5, output: 10 }, other: { request: 0.04 } } }'
    const first = await changes(costs(full))
    expect(
      first.data.changes.map(({ op, section, name }: Record<string, string>) => `${op} ${section} ${name}`),
    ).toEqual(['add channels main', 'add channel_costs main'])
    const [{ id }] = (await api.call('GET', '/api/channel/', { as: root.token })).json.data
    const stored = async () => (await api.call('GET', `/api/channel/${id}/costs`, { as: root.token })).json.data
    expect(await stored()).toMatchObject({
      ...{ multiplier: 0.9, models: { 'gpt-4': { input: 2.5, output: 10 }, other: { request: 0.04 } } },
      source: { kind: 'manual', url: '' },
    })
    expect((await changes(costs(full))).data).toEqual({ changes: [], unlisted: [], applied: false })
    expect((await changes((await exported()).text, '?prune=true')).data.changes).toEqual([])
    expect(parse((await exported()).text).channel_costs).toEqual({
      main: { multiplier: 0.9, models: { 'gpt-4': { input: 2.5, output: 10 }, other: { request: 0.04 } } },
    })

    // If a section is absent, nothing changes.
    expect((await changes(`version: 1${channel()}`)).data.changes).toEqual([])
    expect((await changes(costs('{ models: { gpt-4: { multiplier: 0.5 } } }'), '?dry_run=true')).data.changes).toEqual([
      {
        ...{ op: 'change', section: 'channel_costs', name: 'main' },
        fields: [
          {
            field: 'models',
            before: '{"gpt-4":{"input":2.5,"output":10},"other":{"request":0.04}}',
            after: '{"gpt-4":{"multiplier":0.5}}',
          },
          { field: 'multiplier', before: '0.9', after: '' },
        ],
      },
    ])
    for (const [entry, words] of [
      ['{ models: { gpt-4: {} } }', 'Enter a price or a multiplier for gpt-4.'],
      ['{ models: { gpt-4: { input: 1, multiplier: 1 } } }', 'not both'],
      ['{ multiplier: 0.12345678 }', 'at most six decimals'],
      ['{ multiplier: -1 }', 'multiplier'],
      ['{ models: { gpt-4: { inputs: 1 } } }', 'inputs'],
    ] as const)
      expect(await changes(costs(entry))).toMatchObject({ success: false, message: expect.stringContaining(words) })
    expect((await changes('version: 1\nchannel_costs: { nobody: { multiplier: 1 } }\n')).message).toContain(
      'channel_costs: "nobody": there is no channel of that name.',
    )
    const without = 'version: 1\nchannel_costs: {}\n'
    expect((await changes(without)).data.unlisted).toEqual([{ section: 'channel_costs', name: 'main' }])
    expect((await changes(without, '?prune=true')).data.changes).toMatchObject([{ op: 'remove', name: 'main' }])
    expect(await stored()).toEqual({ multiplier: null, models: {}, source: null, feed: null })
    const events = await api.store.read.selectFrom('audit_events').select('action').execute()
    expect(events.filter(({ action }) => action === 'channel.set-costs')).toHaveLength(2)
  })

  test('price feeds have their own section, and the costs that a feed has read do not count as a difference', async () => {
    const feeds = (entry: string, more = '') => `version: 1${channel(more)}price_feeds:\n  main: ${entry}\n`
    const changes = async (text: string, query = '') => (await put(text, query)).json
    const full = '{ kind: gateway, url: "https://list.example/prices?key=hidden-key", group: vip, every_hours: 12 }'
    const first = await changes(feeds(full))
    expect(first.data.changes).toMatchObject([
      { op: 'add', section: 'channels', name: 'main' },
      { op: 'add', section: 'price_feeds', name: 'main' },
    ])
    expect(JSON.stringify(first)).not.toContain('hidden-key')
    const [{ id }] = (await api.call('GET', '/api/channel/', { as: root.token })).json.data
    const path = `/api/channel/${id}/costs`
    const stored = async () => (await api.call('GET', path, { as: root.token })).json.data
    const feed = { kind: 'gateway', url: 'https://list.example/prices?key=hidden-key', group: 'vip', every_hours: 12 }
    expect(await stored()).toMatchObject({ feed: { ...feed, checked_at: 0 } })
    expect((await changes(feeds(full))).data).toEqual({ changes: [], unlisted: [], applied: false })

    // After the list has been read, the costs that it changed do not count as a difference. Another schedule in the
    // file does not reset the state of the feed.
    const read = { ...feed, checked_at: 5, changed_at: 5, error: '', failed_at: 0, held: {}, refused: {} }
    const costs = { multiplier: 0.5, models: { 'gpt-4': { input: 30 } }, source: { kind: 'gateway', url: '', time: 5 } }
    await api.store.write((trx) =>
      trx
        .updateTable('channels')
        .set({ price_feed: JSON.stringify(read), costs: JSON.stringify(costs) })
        .where('id', '=', id)
        .execute(),
    )
    const text = (await exported()).text
    expect(text).not.toContain('hidden-key')
    expect(parse(text)).toMatchObject({ price_feeds: { main: { kind: 'gateway', every_hours: 12, group: 'vip' } } })
    expect(parse(text).channel_costs).toEqual({ main: { multiplier: 0.5 } })
    expect((await changes(text, '?prune=true')).data.changes).toEqual([])
    expect((await changes('version: 1\nchannel_costs: {}\n', '?prune=true')).data).toMatchObject({
      changes: [],
      unlisted: [],
    })
    const slower = await changes(feeds('{ kind: gateway, group: vip, every_hours: 48 }'))
    expect(slower.data.changes).toEqual([
      {
        ...{ op: 'change', section: 'price_feeds', name: 'main' },
        fields: [{ field: 'every_hours', before: '12', after: '48' }],
      },
    ])
    expect(await stored()).toMatchObject({ ...costs, feed: { ...feed, every_hours: 48, checked_at: 5 } })
    await changes(feeds('{ kind: openrouter, url: "", every_hours: 48 }'))
    expect(await stored()).toMatchObject({ models: costs.models, feed: { kind: 'openrouter', url: '', checked_at: 0 } })
    expect(parse((await exported()).text).price_feeds).toEqual({
      main: { kind: 'openrouter', every_hours: 48, url: '' },
    })

    for (const [entry, words] of [
      ['{ kind: gateway, every_hours: 24, url: "" }', 'Enter the URL of the price list.'],
      ['{ kind: gateway, every_hours: 24, url: "http://169.254.169.254/" }', 'must not be a cloud metadata service'],
      ['{ kind: gateway, every_hours: 24, url: "file:///etc/passwd" }', 'must begin with https'],
      ['{ kind: gateway, every_hours: 24, url: "http://a:b@c/" }', 'must not contain a username'],
      [`{ kind: gateway, every_hours: 24, url: "https://a.example/\${HOME}" }`, 'not allowed here'],
      ['{ kind: gateway, every_hours: 24, url: { file: /etc/hostname } }', 'not allowed here'],
      ['{ kind: gateway, every_hours: 0 }', 'every_hours'],
      ['{ kind: manual, every_hours: 1 }', 'kind'],
      ['{ kind: gateway, every_hours: 1, hours: 2 }', 'hours'],
    ] as const)
      expect([entry, await changes(feeds(entry))]).toEqual([
        entry,
        expect.objectContaining({ success: false, message: expect.stringContaining(words) }),
      ])
    expect(
      (await changes('version: 1\nprice_feeds: { nobody: { kind: openrouter, every_hours: 1 } }\n')).message,
    ).toContain('price_feeds: "nobody": there is no channel of that name.')
    const without = 'version: 1\nprice_feeds: {}\n'
    expect((await changes(without)).data.unlisted).toEqual([{ section: 'price_feeds', name: 'main' }])
    expect((await changes(without, '?prune=true')).data.changes).toMatchObject([{ op: 'remove', name: 'main' }])
    expect(await stored()).toMatchObject({ models: costs.models, feed: null })
  })

  test('only root may read or write the configuration, which must not refer to environment variables or files of the server', async () => {
    expect((await put('version: 1\n', '', yaml, admin.token)).json.message).toContain('permission')
    const read = await api.call('GET', '/api/config', { as: admin.token })
    expect(read.json.message).toContain('permission')
    process.env['SOME_SECRET_OF_THE_SERVER'] = 'leaked'
    const references = [
      channel().replace('sk-secret-one', `\${SOME_SECRET_OF_THE_SERVER}`),
      channel().replace('sk-secret-one', '{ file: /etc/hostname }'),
      channel().replace('    key: sk-secret-one', '    keys: [{ file: /etc/hostname }]'),
      channel(`    proxy: http://proxy.example\n    proxy_login: "u:\${HOME}"\n`),
      channel(`    headers: { x-token: "\${HOME}" }\n`),
      `\noptions: { SMTPToken: "\${HOME}" }\n`,
      '\noptions: { SMTPToken: { file: /etc/hostname } }\n',
    ]
    for (const part of references) {
      const { json } = await put(`version: 1${part}`)
      expect([part, json]).toEqual([
        part,
        expect.objectContaining({
          success: false,
          code: 'configuration_invalid',
          message: expect.stringContaining('not allowed here'),
        }),
      ])
    }
    expect(await api.store.read.selectFrom('channels').select('id').execute()).toEqual([])
    // In fields that are not secrets, a reference is taken literally. In a secret, two dollar signs mean one.
    expect((await put(`version: 1\noptions: { Notice: "\${HOME}" }\n`)).json.success).toBe(true)
    expect(api.settings.current().Notice).toBe(`\${HOME}`)
    expect((await put(`version: 1\noptions: { SMTPToken: "$\${HOME}" }\n`)).json.success).toBe(true)
    expect(api.settings.current().SMTPToken).toBe(`\${HOME}`)
  })

  test('bodies that are not a configuration are refused with a clear message', async () => {
    const cases: [body: string, words: string, headers?: Record<string, string>][] = [
      ['', 'The file is empty'],
      ['version: 1\nchannels: {}\n', 'channels must be an array'],
      [`version: 1 # ${'x'.repeat(300_000)}`, '256 KiB'],
      [`version: 1${channel('    base_url: http://metadata.google.internal\n')}`, 'cloud metadata'],
      [`version: 1${channel('    colour: red\n')}`, 'line 7, column 5'],
      ['version: 1\n', 'Send the content type', { 'content-type': 'text/plain' }],
      ['version: 1\n', 'Send the content type', { 'content-type': 'multipart/form-data; boundary=x' }],
    ]
    for (const [body, words, headers] of cases) {
      const { json } = await put(body, '', headers)
      expect([body.slice(0, 80), json.success, json.message]).toEqual([
        body.slice(0, 80),
        false,
        expect.stringContaining(words),
      ])
      expect(json.code).toBeString()
    }
    const raw = await api.app.request('/api/config', {
      method: 'PUT',
      headers: { authorization: root.token, ...yaml },
      body: new Uint8Array([0xff, 0xfe]),
    })
    expect(((await raw.json()) as { message: string }).message).toContain('UTF-8')
    expect((await put(`version: 1 # ${'x'.repeat(1_100_000)}`)).status).toBe(413)
    expect((await put('version: 1\n', '?dry_run=perhaps')).json.success).toBe(false)
  })

  test('the schema for editors accepts an export, and rejects misspelled fields', async () => {
    await put(
      `version: 1\ngroups: { default: { ratio: 1 } }\nprices: { m: { ratio: 2 } }${channel('    headers: { x-a: b }\n')}`,
    )
    const { json: schema } = await api.call('GET', '/api/config/schema.json')
    const validate = new Ajv({ strict: false }).compile(schema)
    const { text } = await exported()
    expect([validate(parse(text)), validate.errors]).toEqual([true, null])
    expect(validate({ version: 1, options: { SystemNme: 'x' } })).toBe(false)
  })
})

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { createTestApi, type TestApi } from '../../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'

/** Valid values of the JSON options whose entries are not numbers. */
const tablesOfOtherValues: Readonly<Record<string, string>> = {
  GroupLimits: '{"default":{"rpm_limit":60}}',
  GroupChannelOrder: '{"default":"latency"}',
  UserUsableGroups: '{"fast":"Faster channels"}',
  GroupGroupRatio: '{"vip":{"fast":0.5}}',
}

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

  const put = (key: string, value: unknown, as = root) =>
    api.call('PUT', '/api/option/', { as: as.token, body: { key, value } })
  const list = async (as = admin): Promise<Record<string, string>> => {
    const { data } = (await api.call('GET', '/api/option/', { as: as.token })).json
    return Object.fromEntries(data.map(({ key, value }: { key: string; value: string }) => [key, value]))
  }

  test('lists every option except the secret ones, all as text', async () => {
    await put('TurnstileSecretKey', 'ts-secret')
    await put('SMTPToken', 'smtp-secret')
    for (const who of [admin, root]) {
      const options = await list(who)
      expect(options.RetryTimes).toBe('2')
      expect(options.PasswordLoginEnabled).toBe('true')
      for (const key of [
        'TurnstileSecretKey',
        'SMTPToken',
        'GitHubClientSecret',
        'WeChatServerToken',
        '_secret_check',
      ]) {
        expect(options).not.toHaveProperty(key)
      }
      expect(JSON.stringify(options)).not.toMatch(/ts-secret|smtp-secret/)
    }
    const shown = Object.values(optionDefinitions).filter(
      (definition) => !('secret' in definition && definition.secret),
    )
    expect(Object.keys(await list())).toHaveLength(shown.length)
  })

  test('a change takes effect with the next call', async () => {
    expect((await put('SystemName', 'My Gate')).json).toEqual({ success: true, message: '' })
    expect((await list()).SystemName).toBe('My Gate')
    expect((await api.call('GET', '/api/status')).json.data.system_name).toBe('My Gate')
    expect(api.notices).toContainEqual({ topic: 'settings', id: 0 })
  })

  test('admins can write the options that their role may write, and root can write the rest', async () => {
    expect((await put('Notice', 'hello', admin)).json.success).toBe(true)
    const refused = await put('ModelRatio', '{}', admin)
    expect([refused.status, refused.json.success]).toEqual([200, false])
    expect((await put('ModelRatio', '{"gpt-4":15}', root)).json.success).toBe(true)
  })

  test('a JSON option cannot be set to an empty or invalid text, and its stored value is unchanged', async () => {
    const tables = Object.entries(optionDefinitions).filter(([, { kind }]) => kind === 'json')
    expect(tables.length).toBeGreaterThan(10)
    for (const [key] of tables) {
      const before = tablesOfOtherValues[key] ?? '{"default":0.5}'
      expect((await put(key, before)).json.success).toBe(true)
      for (const emptied of ['', ' ', '\n', 'null', '[]', '""', '{', 'undefined']) {
        const { json } = await put(key, emptied)
        expect({ key, emptied, success: json.success }).toEqual({ key, emptied, success: false })
        expect(json.message).toContain(key)
      }
      expect((await list())[key]).toBe(before)
      expect((await put(key, '{}')).json.success).toBe(true)
    }
  })

  test('numbers and booleans are accepted and stored as text', async () => {
    expect((await put('RetryTimes', 3)).json.success).toBe(true)
    expect((await put('LogConsumeEnabled', false)).json.success).toBe(true)
    expect((await put('HoldWaitTime', 0.5)).json.success).toBe(true)
    expect(await list()).toMatchObject({ RetryTimes: '3', LogConsumeEnabled: 'false', HoldWaitTime: '0.5' })
    for (const [key, value] of [
      ['RetryTimes', 1.5],
      ['RetryTimes', true],
      ['LogConsumeEnabled', 1],
      ['RetryTimes', null],
      ['ModelRatio', { m: 1 }],
    ] as const)
      expect({ key, value, success: (await put(key, value)).json.success }).toEqual({ key, value, success: false })
  })

  test("one-api's theme is accepted and ignored", async () => {
    expect((await put('Theme', 'berry')).json).toEqual({ success: true, message: '' })
    expect(await list()).not.toHaveProperty('Theme')
  })

  test('PreConsumedQuota, the number of tokens that a stream holds in advance, can be 0', async () => {
    expect((await put('PreConsumedQuota', '0')).json).toEqual({ success: true, message: '' })
    expect((await list()).PreConsumedQuota).toBe('0')
    expect((await put('PreConsumedQuota', '-1')).json.success).toBe(false)
  })

  test('the option definitions describe each option and the role that may write it, and the server enforces this role', async () => {
    await put('SMTPToken', 'smtp-secret')
    const answer = (await api.call('GET', '/api/option/definitions', { as: admin.token })).json
    const table: { key: OptionKey; default: string; writer: string; secret: boolean; section: string }[] = answer.data
    expect(table.map(({ key }) => key)).toEqual(Object.keys(optionDefinitions) as OptionKey[])
    expect(JSON.stringify(answer)).not.toContain('smtp-secret')
    expect(table.find(({ key }) => key === 'SMTPToken')).toMatchObject({ secret: true, is_set: true, writer: 'root' })
    expect(table.find(({ key }) => key === 'TurnstileSecretKey')).toMatchObject({ secret: true, is_set: false })
    expect(table.find(({ key }) => key === 'RetryTimes')).toEqual({
      key: 'RetryTimes',
      kind: 'integer',
      default: '2',
      min: 0,
      max: 20,
      writer: 'admin',
      secret: false,
      section: 'relay',
      section_title: 'Requests',
      tab: 'operations',
      description: optionDefinitions.RetryTimes.description,
    } as never)
    for (const { key, default: value, writer } of table) {
      expect([key, (await put(key, value, admin)).json.success]).toEqual([key, writer === 'admin'])
      expect([key, (await put(key, value, root)).json.success]).toEqual([key, true])
    }
  })

  test('only super admins can set the URLs to which keys, password reset links and logins are sent', async () => {
    const keys = ['ChatLink', 'ServerAddress', 'GitHubOAuthBaseURL', 'WeChatServerAddress'] as const
    for (const key of keys) {
      const before = (await put(key, 'https://trusted.example', root)).json.success
      const answer = await put(key, 'https://evil.example', admin)
      expect([key, before, answer.json.success]).toEqual([key, true, false])
    }
    expect((await api.call('GET', '/api/status')).json.data).toMatchObject({ chat_link: 'https://trusted.example' })
  })

  test('a body that cannot be decoded gets 400', async () => {
    expect((await put('RetryTimes', [3])).status).toBe(400)
    expect((await put('RegisterEnabled', {})).status).toBe(400)
    expect((await api.call('PUT', '/api/option/', { as: root.token, body: '{' })).status).toBe(400)
    expect((await api.call('PUT', '/api/option/', { as: root.token })).status).toBe(400)
  })

  test('an invalid value is refused before it is stored, and the old value stays', async () => {
    await put('ModelRatio', '{"gpt-4":15}')
    for (const [key, value] of [
      ['ModelRatio', '{'],
      ['ModelRatio', '{"gpt-4":-1}'],
      ['GroupRatio', '{"default":"x"}'],
      ['RetryTimes', '-1'],
      ['RetryTimes', '1.5'],
      ['RetryTimes', ''],
      ['PasswordLoginEnabled', 'yes'],
      ['QuotaPolicy', 'lax'],
      ['NoSuchOption', 'x'],
      ['_secret_check', 'x'],
      ['TopUpLink', 'javascript:alert(1)'],
      ['Logo', '//evil.example/x'],
      ['ServerAddress', '/gate'],
      ['ServerAddress', 'https://gate.example/?from=mail'],
      ['ServerAddress', 'https://gate.example/#top'],
      ['ServerAddress', 'https://user:password@gate.example'],
      ['SMTPServer', 'smtp://mail.example'],
      ['SMTPServer', 'mail.example:587'],
      ['SMTPFrom', 'the gate'],
      ['EmailDomainWhitelist', 'example.com,not a domain'],
      ['SystemName', 'x'.repeat(101)],
    ] as const) {
      const answer = await put(key, value)
      expect([key, value, answer.status, answer.json.success]).toEqual([key, value, 200, false])
    }
    expect((await list()).ModelRatio).toBe('{"gpt-4":15}')
  })

  test('a switch cannot be turned on without the settings that it needs', async () => {
    for (const [key, need] of [
      ['GitHubOAuthEnabled', 'GitHubClientId'],
      ['WeChatAuthEnabled', 'WeChatServerAddress'],
      ['TurnstileCheckEnabled', 'TurnstileSiteKey'],
      ['EmailDomainRestrictionEnabled', 'EmailDomainWhitelist'],
    ] as const) {
      await put(need, need === 'EmailDomainWhitelist' ? ',' : '')
      expect([key, (await put(key, 'true')).json.success]).toEqual([key, false])
      expect((await put(key, 'false')).json.success).toBe(true)
      await put(need, need === 'WeChatServerAddress' ? 'https://wechat.example' : 'example.com')
      expect([key, (await put(key, 'true')).json.success]).toEqual([key, true])
    }
  })

  test('settings that a switch needs cannot be emptied while it is on', async () => {
    await put('EmailDomainWhitelist', 'example.com')
    await put('EmailDomainRestrictionEnabled', 'true')
    expect((await put('EmailDomainWhitelist', ' , ')).json.success).toBe(false)
    expect((await list()).EmailDomainWhitelist).toBe('example.com')
    await put('EmailDomainRestrictionEnabled', 'false')
    expect((await put('EmailDomainWhitelist', '')).json.success).toBe(true)
  })

  test('a value is stored in the same form no matter how it was typed', async () => {
    for (const [key, typed, stored] of [
      ['SMTPPort', ' 25 ', '25'],
      ['QuotaForNewUser', '1e3', '1000'],
      ['QuotaPerUnit', '0500000.50', '500000.5'],
      ['SMTPServer', ' mail.example ', 'mail.example'],
      ['SMTPServer', '::1', '::1'],
      ['GitHubClientId', 'client\n', 'client'],
      ['EmailDomainWhitelist', ' Example.COM , @example.org,,example.com', 'example.com,example.org'],
      ['Notice', ' as it is \n', ' as it is \n'],
    ] as const) {
      expect([key, typed, (await put(key, typed)).json.message]).toEqual([key, typed, ''])
      expect([key, (await list())[key]]).toEqual([key, stored])
    }
  })

  test('an admin cannot direct the links in reset emails to their own page', async () => {
    expect((await put('ServerAddress', 'https://gate.attacker.example', admin)).json.success).toBe(false)
    expect((await put('SMTPServer', 'mail.attacker.example', admin)).json.success).toBe(false)
  })

  test('a trailing slash is removed from server addresses', async () => {
    await put('ServerAddress', 'https://gate.example/')
    expect((await list()).ServerAddress).toBe('https://gate.example')
  })

  test('the audit log shows old and new values, and of secrets only that they changed', async () => {
    await put('RetryTimes', '4')
    await put('SMTPToken', 'smtp-secret')
    const rows = await api.store.read.selectFrom('audit_events').selectAll().orderBy('id').execute()
    expect(rows.map((row) => [row.actor_name, row.target, row.detail])).toEqual([
      ['root', 'RetryTimes', '"2" → "4"'],
      ['root', 'SMTPToken', 'changed'],
    ])
  })

  test('groups are the keys of GroupRatio, sorted', async () => {
    await put('GroupRatio', '{"vip":0.5,"default":1,"alpha":2}')
    expect((await api.call('GET', '/api/group/', { as: admin.token })).json.data).toEqual(['alpha', 'default', 'vip'])
  })

  test('visitors get 401, and ordinary users get an error', async () => {
    const user = await api.addPerson()
    for (const [method, path] of [
      ['GET', '/api/option/'],
      ['GET', '/api/option/definitions'],
      ['PUT', '/api/option/'],
      ['GET', '/api/group/'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(401)
      const answer = await api.call(method, path, { as: user.token })
      expect([answer.status, answer.json.success]).toEqual([200, false])
    }
  })
})

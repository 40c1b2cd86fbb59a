import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { ImportReport } from '../../contract/api/import.ts'
import { type Claim, claimDatabase } from '../../server/store/connection/lock-sqlite.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { sweptPoints } from '../helpers/sweeps.ts'
import { fillSource, oldHash, oldPassword, ownSource, type Row, smallRows } from './own-samples.ts'

/** An installation in which nothing has happened yet. */
async function emptyInstallation(url?: string): Promise<Installation> {
  const installation = new Installation(url)
  await installation.create()
  return installation
}

async function imported(installation: Installation, ...args: string[]): Promise<ImportReport> {
  const { output } = await installation.run('import', ...args, '--json')
  const line = output.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(output)
  return JSON.parse(line) as ImportReport
}

const found = (report: ImportReport, words: string) => report.findings.find(({ text }) => text.includes(words))

describe('if a source cannot be imported, the error says what to do, and nothing changes', () => {
  const cases: [name: string, source: (folder: string) => string, words: string][] = [
    ['a file that does not exist', (folder) => join(folder, 'none.db'), 'There is no file'],
    ['an empty file', (folder) => written(folder, ''), 'is empty'],
    ['a file of another kind', (folder) => written(folder, 'hello '.repeat(1000)), 'not a SQLite database'],
    ['a database cut in half', () => cutInHalf(), 'damaged'],
    ['an address of an unknown kind', () => 'redis://localhost:6379', 'is not an address'],
    ['PostgreSQL that is not there', () => 'postgres://a:secret-pass@127.0.0.1:9/db', 'cannot be reached'],
    ['MySQL that is not there', () => 'mysql://a:secret-pass@127.0.0.1:9/db', 'cannot be reached'],
    ["MySQL in one-api's form", () => 'a:secret-pass@tcp(127.0.0.1:9)/db', 'mysql://127.0.0.1:9/db'],
    ['an incomplete address', () => 'mysql://host-only', 'not complete'],
    ['a table that is missing', () => without('tokens'), 'Start one-api once'],
    ['an unknown program', () => without('users'), 'is not a database of one-api'],
  ]
  test('for every kind of unusable source', async () => {
    await using installation = await emptyInstallation()
    for (const [name, source, words] of cases) {
      const { code, output } = await installation.run('import', '--from', source(installation.folder))
      expect([name, code, output]).toEqual([name, 1, expect.stringContaining(words)])
      expect(output).not.toContain('secret-pass')
      expect(output.trim().split('\n').length).toBeLessThan(4)
    }
    const store = openStore({ url: installation.databaseUrl })
    expect(await store.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'root' }])
    expect(await store.read.selectFrom('imports').selectAll().execute()).toEqual([])
    await store.close()
  }, 120_000)
})

describe('an import that creates the installation deletes nothing that is not its own', () => {
  test('it does not start while a server is creating the database', async () => {
    await using installation = new Installation(undefined, { SECRET_KEY: '' })
    writeFileSync(installation.databaseUrl, '')
    const claim = await claimDatabase(installation.databaseUrl)
    const refused = await installation.run('import', '--from', ownSource('one-api', smallRows()))
    claim.release()
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('A server is running on the database')])
    expect(readdirSync(installation.folder).toSorted()).toEqual(['server.lock', 'tollgate.db'])
  })

  // The source breaks off as soon as the import connects to it, which is after the installation was created.
  const cases: [name: string, meanwhile: (url: string) => Promise<Partial<Claim>>, isKept: boolean][] = [
    ['a server was started', (url) => claimDatabase(url), true],
    ['a server was used and stopped', addOption, true],
    ['nothing happened', async () => ({}), false],
  ]
  for (const [name, meanwhile, isKept] of cases)
    test(`if it fails and ${name} at the same time, the new database is ${isKept ? 'kept' : 'removed'}`, async () => {
      await using installation = new Installation(undefined, { SECRET_KEY: '' })
      let done: Promise<Partial<Claim>> | undefined
      const source = createServer((socket) => {
        done ??= meanwhile(installation.databaseUrl)
        void done.finally(() => socket.destroy())
      })
      await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
      const { port } = source.address() as AddressInfo
      const { code, output } = await installation.run('import', '--from', `postgres://a:b@127.0.0.1:${port}/db`)
      source.close()
      const used = await done
      used?.release?.()
      expect([code, output]).toEqual([
        1,
        expect.stringContaining('There was no installation, so a new one was created'),
      ])
      expect(output.includes('was removed again')).toBe(!isKept)
      expect(existsSync(installation.databaseUrl)).toBe(isKept)
      expect(readFileSync(join(installation.folder, 'secret.key'), 'utf8')).toHaveLength(65)
    })
})

async function addOption(url: string): Promise<Partial<Claim>> {
  const store = openStore({ url })
  await store.write((trx) => trx.insertInto('options').values({ key: 'Notice', value: 'hello' }).execute())
  await store.close()
  return {}
}

function written(folder: string, text: string): string {
  const path = join(folder, `source-${text.length}.db`)
  writeFileSync(path, text)
  return path
}

function cutInHalf(): string {
  const path = ownSource('one-api', { ...smallRows(), logs: manyLogs(2000) })
  truncateSync(path, Math.floor(readFileSync(path).length / 2))
  return path
}

function without(table: string): string {
  const path = ownSource('one-api', smallRows())
  const database = new Database(path)
  database.run(`drop table ${table}`)
  database.close()
  return path
}

function manyLogs(count: number): Row[] {
  return Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    user_id: 2,
    created_at: 1_790_000_000 + at,
    type: 2,
    content: 'a call',
    username: 'mia',
    token_name: 'main',
    model_name: 'gpt-4o',
    quota: at % 7,
    channel_id: 1,
  }))
}

forEachDatabaseUrl((target, freshUrl) => {
  const empty = async () => emptyInstallation(target === 'postgres' ? await freshUrl() : undefined)

  test('rows with invalid values are imported with corrections, which the report lists, and the audit finds no fault', async () => {
    const rows = smallRows()
    rows.users.push(
      { id: 3, username: 'debtor', password: oldHash, quota: -2_147_483_000, used_quota: -5, aff_code: 'AAAA' },
      { id: 4, username: 'mia', password: 'plain text', quota: 9_000_000_000_000_000, aff_code: 'AAAA' },
      { id: 5, username: 'deleted_1', password: oldHash, status: 3, quota: 7, inviter_id: 99 },
      { id: 6, username: '😀 emoji\0', password: oldHash, group: 'a group without a ratio', status: 9 },
    )
    rows.tokens.push(
      { id: 2, user_id: 77, key: 'nobody', name: 'of nobody' },
      { id: 3, user_id: 3, key: 'x'.repeat(300), name: 'long', remain_quota: -3 },
      { id: 4, user_id: 3, key: 'k'.repeat(48), name: 'twice' },
      { id: 5, user_id: 3, key: '', name: 'no key' },
      { id: 6, user_id: 3, key: 'limited', name: 'limited', subnet: 'not-an-address', remain_quota: 5 },
    )
    rows.channels.push(
      { id: 2, type: 999, key: 'k', name: 'unknown', models: 'm', base_url: 'https://x.example' },
      { id: 3, type: 1, key: 'k', name: 'metadata', models: 'm', base_url: 'http://169.254.169.254/latest' },
      { id: 4, type: 1, key: 'k', name: 'odd', models: 'm', model_mapping: '{not json', config: '[1]' },
      {
        id: 5,
        type: 3,
        key: 'a\nb\nc',
        name: 'lines',
        models: 'm',
        base_url: 'https://z.example/',
        other: '2024-10-21',
      },
    )
    rows.logs.push(
      { id: 3, user_id: 500, created_at: 1, type: 2, content: 'gone', quota: 11, channel_id: 700, token_name: 'x' },
      { id: 4, user_id: 2, created_at: 2, type: 42, content: 'of no type' },
    )
    const from = ownSource('one-api', {
      ...rows,
      options: [
        { key: 'ModelRatio', value: '{"gpt-4o":1,"openrouter/auto":-500000,"tiny":0.00000001}' },
        { key: 'GroupRatio', value: 'not json' },
        { key: 'Notice', value: 'x'.repeat(2_000_000) },
        { key: 'SystemName', value: 'Gate 😀' },
        { key: 'SMTPToken', value: 'mail secret' },
        { key: 'RetryTimes', value: 'many' },
      ],
    })
    await using installation = await empty()
    const report = await imported(installation, '--from', from)
    for (const { name, there, corrected, here } of report.sums) expect([name, here]).toEqual([name, there + corrected])
    for (const words of [
      'A negative quota is set to 0',
      'A negative used_quota is set to 0',
      'above 1000000000000000',
      'The name is taken',
      'The invitation code is taken',
      'unknown form',
      'owner of the token does not exist',
      'This installation already has a token with this key',
      'no key and is skipped',
      'empty list of models or addresses',
      'Type 999 has no counterpart',
      'The base_url is not valid here',
      'The model_mapping is not valid here',
      'The config is not a JSON object',
      'must not be negative',
      'longer than 1000000 characters',
      'The value of the option is not valid here',
      'The group is used but has no ratio',
    ])
      expect([words, found(report, words) !== undefined]).toEqual([words, true])
    expect((await installation.run('audit')).output).toContain('0 faults.')
    const left = readFileSync(report.leftoversFile, 'utf8')
    expect(left).not.toContain('k'.repeat(48))

    const store = openStore({ url: installation.databaseUrl })
    const users = await store.read
      .selectFrom('users')
      .select(['id', 'username', 'quota', 'status'])
      .orderBy('id')
      .execute()
    expect(users.map(({ username }) => username)).toEqual([
      'root',
      'mia',
      'debtor',
      'mia-import',
      expect.stringMatching(/^deleted_/),
      '😀 emoji',
    ])
    const channels = await store.read
      .selectFrom('channels')
      .select(['name', 'status', 'key_mode', 'key_count', 'base_url', 'other'])
      .orderBy('id')
      .execute()
    expect(channels).toMatchObject([
      { name: 'up', status: 1 },
      { name: 'unknown', status: 2 },
      { name: 'metadata', status: 2, base_url: '' },
      { name: 'odd', status: 2 },
      { name: 'lines', status: 1, key_mode: 'multi', key_count: 3, base_url: 'https://z.example', other: '2024-10-21' },
    ])
    const dump = JSON.stringify(await store.read.selectFrom('options').selectAll().execute())
    expect(dump).not.toContain('mail secret')
    // A new user must not get the id of a deleted account that log rows refer to.
    const gateway = await installation.start()
    await gateway.api('POST', '/api/user/', { username: 'newcomer', password: 'long enough 1' })
    const newcomer = await store.read
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'newcomer')
      .executeTakeFirst()
    expect(newcomer?.id).toBeGreaterThan(500)
    await gateway.stop()
    await store.close()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 120_000)

  test('a run that is killed at any point continues where it stopped, and ends in the same state', async () => {
    const rows = { ...smallRows(), logs: manyLogs(24_000) }
    const used = rows.logs.reduce((sum, { quota }) => sum + Number(quota), 0)
    const from = ownSource('one-api', rows)
    await using installation = await empty()
    const killed = await installation.killedRuns(['import', '--from', from], sweptPoints(20, `import ${target}`))
    expect(killed).toBeGreaterThan(0)
    const report = await imported(installation, '--from', from)
    expect(report.sums.find(({ name }) => name === 'quota of charges')).toMatchObject({ there: used, here: used })
    const store = openStore({ url: installation.databaseUrl })
    const { count } = await store.read
      .selectFrom('logs')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(Number(count)).toBe(24_000)
    expect(await store.read.selectFrom('imports').select('id').execute()).toHaveLength(1)
    await store.close()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 180_000)

  test('an installation with data needs --merge, which assigns new ids and adds suffixes to names; a later run imports only new data', async () => {
    await using installation = await empty()
    const gateway = await installation.start()
    await gateway.api('POST', '/api/user/', { username: 'MIA', password: 'long enough 1' })
    await gateway.api('POST', '/api/channel/', { type: 1, name: 'ours', key: 'k', models: 'm', group: 'default' })
    await gateway.api('PUT', '/api/option/', { key: 'SystemName', value: 'Ours' })
    await gateway.stop()
    const from = ownSource('one-api', { ...smallRows(), options: [{ key: 'SystemName', value: 'Theirs' }] })
    const refused = await installation.run('import', '--from', from)
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('(--merge)')])

    const report = await imported(installation, '--from', from, '--merge')
    expect(report).toMatchObject({ mode: 'merge', added: { users: 2, tokens: 1, channels: 1, logs: 2 } })
    expect(found(report, 'This installation has another value')).toBeDefined()
    const store = openStore({ url: installation.databaseUrl })
    const names = await store.read.selectFrom('users').select(['username', 'role']).orderBy('id').execute()
    expect(names).toEqual([
      { username: 'root', role: 100 },
      { username: 'MIA', role: 1 },
      { username: 'root-import', role: 10 },
      { username: 'mia-import', role: 1 },
    ])
    expect((await installation.run('audit')).output).toContain('0 faults.')

    // The source is in use after the first import: it charges a user 40 more units and gives the user 1,000.
    const database = new Database(from)
    database.run('update users set quota = quota + 960, used_quota = used_quota + 40, request_count = 3 where id = 2')
    database.run('update channels set used_quota = used_quota + 40')
    database.close()
    fillSource(from, {
      users: [{ id: 3, username: 'late', password: oldHash, quota: 3 }],
      logs: [
        {
          id: 3,
          user_id: 2,
          created_at: 1_790_000_009,
          type: 2,
          content: '',
          username: 'mia',
          token_name: 'main',
          quota: 40,
          channel_id: 1,
        },
      ],
    })
    const again = await imported(installation, '--from', from)
    expect(again).toMatchObject({ mode: 'again', added: { users: 1, tokens: 0, channels: 0, logs: 1 } })
    expect(
      await store.read
        .selectFrom('users')
        .select(['quota', 'used_quota', 'request_count'])
        .where('username', '=', 'mia-import')
        .executeTakeFirst(),
    ).toEqual({ quota: 5960, used_quota: 110, request_count: 3 })
    await store.close()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 120_000)

  test("new-api 1.x and Laisky's one-api are recognised, and the extra settings of their channels are imported", async () => {
    const small = smallRows()
    const newer = ownSource('new-api', {
      ...small,
      setups: [{ id: 1, version: 'v1.0.0', initialized_at: 1 }],
      subscription_plans: [{ id: 1, title: 'Gold', price_amount: 9.5 }],
      tokens: [
        ...small.tokens,
        {
          id: 2,
          user_id: 2,
          key: 'grouped',
          name: 'g',
          group: 'vip',
          model_limits_enabled: 1,
          model_limits: 'gpt-4o',
          allow_ips: '10.0.0.1\n10.2.0.0/16',
        },
        { id: 3, user_id: 2, key: 'gone', name: 'gone', deleted_at: '2026-01-01 00:00:00' },
      ],
      channels: [
        {
          id: 1,
          type: 43,
          key: 'k1\nk2',
          name: 'deepseek',
          models: 'gpt-4o',
          channel_info: '{"is_multi_key":true,"multi_key_size":2,"multi_key_status_list":{"1":2}}',
          header_override: '{"x-team":"a"}',
          param_override: '{"temperature":0.2}',
          setting: '{"proxy":"http://u:p@proxy.example:8080","system_prompt":"be brief"}',
          status_code_mapping: '{"529":"503"}',
          tag: 'cheap',
          remark: 'a note',
        },
      ],
      redemptions: [
        { id: 1, user_id: 1, key: 'a'.repeat(32), name: 'old', quota: 5, expired_time: 1_700_000_000 },
        { id: 2, user_id: 1, key: 'b'.repeat(32), name: 'new', quota: 5, expired_time: 0 },
        { id: 3, user_id: 1, key: 'c'.repeat(32), name: 'new', quota: 5, expired_time: 4_000_000_000 },
      ],
      logs: [
        {
          id: 1,
          user_id: 2,
          created_at: 1_790_000_000,
          type: 5,
          content: 'upstream said no',
          username: 'mia',
          token_id: 2,
          channel_id: 1,
          other: '{"status_code":429,"error_code":"rate_limit"}',
        },
        { id: 2, user_id: 2, created_at: 1_790_000_000, type: 6, content: 'refund', quota: 5 },
        {
          id: 3,
          user_id: 2,
          created_at: 1_790_000_000,
          type: 2,
          content: '',
          token_id: 2,
          quota: 50,
          use_time: 3,
          other: '{"frt":120,"cache_tokens":7}',
        },
      ],
    })
    await using installation = await empty()
    const report = await imported(installation, '--from', newer)
    expect(report).toMatchObject({ program: 'new-api', version: 'v1.0.0', added: { tokens: 2 } })
    expect(readFileSync(report.leftoversFile, 'utf8')).toContain('Gold')
    const store = openStore({ url: installation.databaseUrl })
    expect(
      await store.read
        .selectFrom('tokens')
        .select(['group', 'models', 'subnet'])
        .where('name', '=', 'g')
        .executeTakeFirst(),
    ).toEqual({
      group: 'vip',
      models: 'gpt-4o',
      subnet: '10.0.0.1/32,10.2.0.0/16',
    })
    expect(await store.read.selectFrom('channels').selectAll().executeTakeFirst()).toMatchObject({
      type: 36,
      key_mode: 'multi',
      key_count: 2,
      tags: 'cheap',
      remark: 'a note',
      proxy: 'http://proxy.example:8080',
      system_prompt: 'be brief',
      status_map: '{"529":503}',
      parameters: '[{"op":"set","path":"temperature","value":0.2}]',
    })
    expect(await store.read.selectFrom('channel_dead_keys').select('channel_id').execute()).toEqual([{ channel_id: 1 }])
    const codes = await store.read.selectFrom('redemptions').select(['status', 'expired_time']).orderBy('id').execute()
    expect(codes).toEqual([1_700_000_000, 0, 4_000_000_000].map((expired_time) => ({ status: 1, expired_time })))
    const logs = await store.read
      .selectFrom('logs')
      .select(['type', 'status', 'code', 'token_id', 'elapsed_time', 'first_byte_time', 'cached_tokens'])
      .orderBy('id')
      .execute()
    expect(logs).toMatchObject([
      { type: 6, status: 429, code: 'rate_limit', token_id: 2 },
      { type: 4 },
      { type: 2, elapsed_time: 3000, first_byte_time: 120, cached_tokens: 7 },
    ])
    await store.close()
    expect((await installation.run('audit')).output).toContain('0 faults.')

    const laisky = ownSource('laisky', {
      ...smallRows(),
      users: smallRows().users.map((row) => ({
        ...row,
        created_at: 1_750_000_000_123,
        totp_secret: 'JBSWY3DPEHPK3PXP',
      })),
    })
    await using second = await empty()
    const other = await imported(second, '--from', laisky)
    expect(other.program).toBe("Laisky's one-api")
    expect(found(other, 'Two-factor authentication')).toMatchObject({ count: 2 })
    const gateway = await second.start()
    const login = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'mia', password: oldPassword }),
    })
    expect(await login.json()).toMatchObject({ success: true })
    await gateway.stop()
  }, 120_000)

  test("prices and rows that only Laisky's one-api has are imported", async () => {
    const small = smallRows()
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: 'a a a a', promptTokens: 10 }))
    const channel = { key: 'k', group: 'default', base_url: upstream.url }
    const price = (ratio: number, more = {}) => ({ ratio, completion_ratio: 3, ...more })
    const from = ownSource('laisky', {
      ...small,
      channels: [
        {
          ...channel,
          id: 1,
          type: 50,
          models: 'shared,split',
          config: '{"custom_headers":{"X-Team":"red"},"api_format":"chat_completion"}',
          model_configs: JSON.stringify({
            shared: price(2, { cached_input_ratio: 0.5, max_tokens: 9 }),
            split: price(1),
          }),
        },
        { ...channel, id: 2, type: 1, models: 'split', model_ratio: '{"split":4}', completion_ratio: '{"split":1}' },
        { ...channel, id: 3, type: 1, models: 'split', model_configs: JSON.stringify({ split: price(5) }) },
        { ...channel, id: 4, type: 54, models: 'no-price' },
        { ...channel, id: 5, type: 53, models: 'copilot' },
      ],
      logs: [
        { user_id: 2, created_at: 1_790_000_000, type: 2, username: 'mia', quota: 30, cached_prompt_tokens: 4 },
        { user_id: 2, created_at: 1_790_000_001, type: 5, username: 'mia', content: 'a test' },
        { user_id: 2, created_at: 1_790_000_002, type: 6, username: 'mia', quota: 20 },
        { user_id: 2, created_at: 1_790_000_003, type: 7, username: 'mia', quota: 20, model_name: 'web_search' },
      ],
      user_request_costs: [{ user_id: 2, quota: 30 }],
      options: [{ key: 'ModelRatio', value: '{"shared":9}' }],
    })
    await using installation = await empty()
    const report = await imported(installation, '--from', from)
    expect(report.sums.find(({ name }) => name === 'quota of charges')).toMatchObject({ there: 70, here: 70 })
    expect(found(report, 'Channels of one type')).toMatchObject({ count: 1, examples: ['split(1)'] })
    expect(found(report, 'max_tokens')).toMatchObject({ count: 1 })
    expect(found(report, 'prices of its channels')).toMatchObject({ count: 1, examples: ['ModelRatio'] })
    const store = openStore({ url: installation.databaseUrl })
    const options = new Map(
      (await store.read.selectFrom('options').select(['key', 'value']).execute()).map(({ key, value }) => [key, value]),
    )
    expect(JSON.parse(options.get('ModelRatio') ?? '')).toEqual({
      shared: 2,
      'split(50)': 1,
      'split(1)': 5,
      'no-price': 1.25,
      copilot: 1.25,
    })
    expect(JSON.parse(options.get('CompletionRatio') ?? '')).toMatchObject({ shared: 3, 'split(1)': 3, 'no-price': 1 })
    expect(JSON.parse(options.get('CacheRatio') ?? '')).toEqual({ shared: 0.25 })
    const logs = await store.read.selectFrom('logs').select(['type', 'cached_tokens']).orderBy('id').execute()
    expect(logs.map(({ type }) => type)).toEqual([2, 5, 2, 2])
    expect(logs[0]?.cached_tokens).toBe(4)
    await store.close()

    const gateway = await installation.start()
    const answer = await gateway.post(
      '/v1/chat/completions',
      { model: 'shared', messages: [{ role: 'user', content: 'hi' }] },
      `sk-${'k'.repeat(48)}`,
    )
    expect(answer.status).toBe(200)
    const sent = upstream.requests.at(-1)
    expect([sent?.path, sent?.headers.get('x-team')]).toEqual(['/v1/chat/completions', 'red'])
    // The call is charged 10 prompt tokens × 2 + 4 completion tokens × 6 = 44 units.
    expect((await gateway.api<{ quota: number }>('GET', '/api/user/2')).quota).toBe(5000 - 44)
    await gateway.stop()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 120_000)

  test('an installation is created if there is none, and a dry run leaves nothing behind', async () => {
    await using installation = new Installation(target === 'postgres' ? await freshUrl() : undefined)
    const from = ownSource('one-api', smallRows())
    expect((await imported(installation, '--from', from, '--dry-run')).added.users).toBe(2)
    const refused = await installation.run('import', '--from', '/no/such.db')
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('There is no file')])
    const { code, output } = await installation.run('import', '--from', from)
    expect([code, output]).toEqual([0, expect.stringContaining('Imported: 2 users')])
    const gateway = await installation.start()
    const login = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password: oldPassword }),
    })
    expect(await login.json()).toMatchObject({ success: true })
    await gateway.stop()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 120_000)

  test('a token with a group uses the channels and the ratio of that group', async () => {
    const small = smallRows()
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: 'a a a a', promptTokens: 10 }))
    const from = ownSource('new-api', {
      ...small,
      tokens: [...small.tokens, { id: 2, user_id: 2, key: 'grouped', name: 'g', group: 'vip', unlimited_quota: 1 }],
      channels: [{ id: 1, type: 1, key: 'k', models: 'gpt-4o', group: 'vip', base_url: upstream.url }],
      logs: [],
      options: [
        { key: 'ModelRatio', value: '{"gpt-4o":1}' },
        { key: 'CompletionRatio', value: '{"gpt-4o":1}' },
        { key: 'GroupRatio', value: '{"default":1,"vip":0.5}' },
      ],
    })
    await using installation = await empty()
    await imported(installation, '--from', from)
    const gateway = await installation.start()
    const call = (key: string) =>
      gateway.post('/v1/chat/completions', { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }, key)
    expect((await call(`sk-${'k'.repeat(48)}`)).status).toBe(503)
    expect((await call('sk-grouped')).status).toBe(200)
    const user = await gateway.api<{ quota: number }>('GET', '/api/user/2')
    expect(user.quota).toBe(5000 - 7)
    await gateway.stop()
    expect((await installation.run('audit')).output).toContain('0 faults.')
  }, 120_000)

  test('a log in a separate database can be imported, and an import can be limited to some parts of a source', async () => {
    const { logs, ...accounts } = smallRows()
    const from = ownSource('one-api', accounts)
    const logsFrom = ownSource('one-api', { logs })
    await using installation = await empty()
    const parts = await imported(installation, '--from', from, '--logs-from', logsFrom, '--only', 'users,channels')
    expect(parts.added).toEqual({ users: 2, tokens: 0, channels: 1, codes: 0, logs: 0 })
    const rest = await imported(installation, '--from', from, '--logs-from', logsFrom, '--since', '2026-09-01')
    expect(rest.added).toEqual({ users: 0, tokens: 1, channels: 0, codes: 0, logs: 2 })
    expect((await installation.run('audit')).output).toContain('0 faults.')
    const wrong = await installation.run('import', '--from', from, '--only', 'people')
    expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining('is not a part')])
  }, 120_000)
})

test('a source is never written to', async () => {
  const from = ownSource('one-api', smallRows())
  const copy = `${from}.copy`
  copyFileSync(from, copy)
  await using installation = await emptyInstallation()
  await imported(installation, '--from', from)
  expect(readFileSync(from).equals(readFileSync(copy))).toBe(true)
})

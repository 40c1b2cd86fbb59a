// Sources with rows that no program writes. Rows that can be imported are imported, and the audit finds no fault.
// Everything else is reported in one sentence.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { imported } from './imported.ts'
import { oldHash, ownSource, smallRows } from './own-samples.ts'

const huge = '9223372036854775807'

/** The columns of a table that may be null. */
const columns = (database: Database, table: string) =>
  (
    database
      .query(`select name from pragma_table_info('${table}') where name <> 'id' and "notnull" = 0`)
      .values() as string[][]
  )
    .flat()
    .map((name) => `"${name}"`)

/** A source with everything that databases accept but programs do not write. */
function oddSource(): string {
  const rows = smallRows()
  rows.users.push(
    ...[3, 4, 5, 6, 7].map((id) => ({ id, username: `user${id}`, password: oldHash, quota: 100, used_quota: 7 })),
    { id: -4, username: 'below zero', password: oldHash, quota: 30 },
  )
  rows.tokens.push(
    ...[2, 3, 4, 5, 6].map((id) => ({ id, user_id: 3, key: `key${id}`, name: `t${id}`, remain_quota: 10 })),
    { id: 7, user_id: 3, key: ` spaced-key\n`, name: 'spaced' },
  )
  rows.channels.push(
    ...[2, 3, 4].map((id) => ({ id, type: 1, key: 'k', name: `c${id}`, models: 'm', base_url: 'https://x.example' })),
    { id: 5, type: 1, key: 'k', name: 'blanks', models: ' , gpt-4o,, ,gpt-4o-mini ,', base_url: 'https://x.example' },
    {
      id: 6,
      type: 1,
      key: 'k',
      name: 'json',
      models: 'm',
      model_mapping: '{/* c */ "a": "b", }',
      base_url: 'https://x.example',
    },
  )
  const from = ownSource('one-api', { ...rows, options: [{ key: 'ModelRatio', value: '{"m": 2, // two\n}' }] })
  const database = new Database(from)
  for (const table of ['users', 'tokens', 'channels', 'logs'])
    for (const column of columns(database, table)) database.run(`update ${table} set ${column} = null where id = 3`)
  for (const statement of [
    `update users set quota = 'abc', used_quota = x'00ff41', request_count = '0x10' where id = 4`,
    `update users set quota = 12.7, used_quota = 3.6 where id = 5`,
    `update users set quota = ${huge}, used_quota = ${huge}, request_count = ${huge} where id = 6`,
    `update users set quota = -${huge}, used_quota = -${huge}, request_count = -${huge} where id = 7`,
    `update tokens set unlimited_quota = 't', remain_quota = ${huge} where id = 4`,
    `update tokens set unlimited_quota = 'f', remain_quota = -${huge}, used_quota = 2.9 where id = 5`,
    `update tokens set created_time = 1700000000123, accessed_time = ${huge}, expired_time = 4102444799000 where id = 6`,
    `update channels set used_quota = ${huge}, created_time = -${huge}, status = ${huge}, priority = ${huge} where id = 2`,
    `update channels set used_quota = 'many', weight = 'heavy', balance = 'much' where id = 4`,
    `insert into logs (id, user_id, created_at, type, quota, channel_id) values (10, ${huge}, ${huge}, 2, 5, ${huge})`,
    `insert into logs (id, user_id, created_at, type, quota) values (11, 2, -${huge}, 2, ${huge}), (12, 2, 1700000000123, 2, 1.9)`,
    `insert into logs (id, user_id, created_at, type, content) values (13, 2, 'yesterday', 'four', x'ff00fe')`,
    'alter table tokens rename to tokens_',
    'alter table tokens_ rename to TOKENS',
    'create view extra as select * from users',
    'create view broken as select * from nowhere',
    'create table "a b" (x)',
    'insert into "a b" values (1)',
    'create table "q""uote" (id text, "x""y" text)',
    `insert into "q""uote" values ('one', 'two')`,
    'create table "select" (id integer, y integer)',
    'insert into "select" values (1, 1)',
    'create trigger later after insert on users begin delete from users; end',
  ])
    database.run(statement)
  database.close()
  return from
}

forEachDatabaseUrl((target, freshUrl) => {
  test('rows that no program writes are imported with corrections, which the report lists, and the audit finds no fault', async () => {
    await using installation = new Installation(target === 'postgres' ? await freshUrl() : undefined)
    await installation.create()
    const report = await imported(installation, '--from', oddSource())
    for (const { name, there, corrected, here } of report.sums) expect([name, here]).toEqual([name, there + corrected])
    expect(report.added).toMatchObject({ users: 8, logs: 6 })
    const audit = await installation.run('audit')
    expect(audit.output).toContain('0 faults')

    const store = openStore({ url: installation.databaseUrl })
    const users = await store.read.selectFrom('users').select(['id', 'username', 'quota', 'used_quota']).execute()
    const of = (name: string) => users.find(({ username }) => username === name)
    expect(of('user4')).toMatchObject({ quota: 0, used_quota: 0 })
    expect(of('user5')).toMatchObject({ quota: 12, used_quota: 3 })
    expect(of('user6')).toMatchObject({ quota: 1e15, used_quota: 1e15 })
    expect(of('user7')).toMatchObject({ quota: 0, used_quota: 0 })
    expect(of('below zero')).toMatchObject({ quota: 30 })
    expect(of('below zero')?.id).toBeGreaterThan(0)
    const tokens = await store.read.selectFrom('tokens').selectAll().execute()
    const token = (name: string) => tokens.find((each) => each.name === name)
    expect(Boolean(token('t4')?.unlimited_quota)).toBe(true)
    expect(Boolean(token('t5')?.unlimited_quota)).toBe(false)
    expect(token('t6')).toMatchObject({ created_time: 1_700_000_000, expired_time: 4_102_444_799, accessed_time: 0 })
    expect(token('spaced')).toBeDefined()
    const channels = await store.read.selectFrom('channels').select(['name', 'models', 'status']).execute()
    expect(channels.find(({ name }) => name === 'blanks')?.models).toBe('gpt-4o,gpt-4o-mini')
    expect(channels.find(({ name }) => name === 'json')?.status).toBe(2)
    const logs = await store.read.selectFrom('logs').select(['created_at', 'quota', 'user_id']).execute()
    expect(Math.max(...logs.map(({ created_at }) => created_at))).toBeLessThan(2_000_000_000)
    expect(Math.min(...logs.map(({ created_at }) => created_at))).toBe(0)
    await store.close()
    for (const name of ['a b', 'q"uote', 'select'])
      expect(report.findings.map(({ text }) => text)).toContain(`The table ${name} has no counterpart.`)
  }, 60_000)
})

test('an id that is too large, and a view in place of a table, are reported, and nothing changes', async () => {
  await using installation = new Installation()
  await installation.create()
  for (const [statements, words] of [
    [
      [`update users set id = ${huge} where id = 2`],
      `The table users has a row with the id ${huge}, which is too large.`,
    ],
    [[`insert into logs (id) values (-${huge})`], `The table logs has a row with the id -${huge}, which is too large.`],
    [['alter table users rename to u', 'create view users as select * from u'], 'it has no users'],
    [['alter table channels drop column "group"'], 'its table channels has no group. Start one-api once'],
  ] as const) {
    const from = ownSource('one-api', smallRows())
    const database = new Database(from)
    for (const statement of statements) database.run(statement)
    database.close()
    const { code, output } = await installation.run('import', '--from', from)
    expect([code, output]).toEqual([1, expect.stringContaining(words)])
    expect(output.trim().split('\n').length).toBeLessThan(3)
  }
  const store = openStore({ url: installation.databaseUrl })
  expect(await store.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'root' }])
  expect(await store.read.selectFrom('imports').selectAll().execute()).toEqual([])
  await store.close()
}, 60_000)

test('base URLs that new-api stores as the name of a coding plan become URLs, and unknown names are reported', async () => {
  await using installation = new Installation()
  await installation.create()
  const rows = smallRows()
  const plan = (id: number, type: number, base_url: string) => ({
    id,
    type,
    key: 'id.secret',
    name: base_url,
    models: 'glm-4.7',
    base_url,
  })
  rows.channels.push(
    plan(2, 26, 'glm-coding-plan/'),
    plan(3, 25, 'kimi-coding-plan'),
    plan(4, 35, 'minimax-coding-plan'),
  )
  const report = await imported(installation, '--from', ownSource('new-api', rows))
  const store = openStore({ url: installation.databaseUrl })
  const channels = await store.read
    .selectFrom('channels')
    .select(['type', 'base_url', 'status'])
    .orderBy('id')
    .execute()
  await store.close()
  expect(channels.slice(1, 3)).toEqual([
    { type: 50, base_url: 'https://open.bigmodel.cn/api/coding/paas/v4', status: 1 },
    { type: 50, base_url: 'https://api.kimi.com/coding/v1', status: 1 },
  ])
  expect(channels[3]?.status).toBe(2)
  expect(report.findings.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['channel_coding_plan', 'channel_field_disables']),
  )
}, 60_000)

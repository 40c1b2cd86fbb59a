// SQLite files of older versions, edited by hand, in use, locked or damaged.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { openStore } from '../../server/store/connection/open.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { imported } from './imported.ts'
import { oldHash, ownSource, smallRows } from './own-samples.ts'

/** A source with `smallRows` and a log of 300 rows, changed by statements. */
function changed(...statements: string[]): string {
  const from = ownSource('one-api', {
    ...smallRows(),
    redemptions: [{ id: 1, user_id: 1, key: 'code', name: 'c', quota: 3 }],
    options: [{ key: 'SystemName', value: 'Ours' }],
  })
  const database = new Database(from)
  for (const statement of statements) database.run(statement)
  database.close()
  return from
}

async function importedFrom(from: string) {
  await using installation = new Installation()
  await installation.create()
  await imported(installation, '--from', from, '--dry-run')
  const report = await imported(installation, '--from', from)
  expect(await imported(installation, '--from', from)).toMatchObject({ mode: 'again', added: { users: 0, logs: 0 } })
  expect((await installation.run('audit')).output).toContain('0 faults.')
  const store = openStore({ url: installation.databaseUrl })
  const users = await store.read.selectFrom('users').selectAll().orderBy('id').execute()
  const tokens = await store.read.selectFrom('tokens').selectAll().orderBy('id').execute()
  const logs = await store.read.selectFrom('logs').selectAll().orderBy('id').execute()
  const options = await store.read.selectFrom('options').selectAll().where('key', '=', 'SystemName').execute()
  await store.close()
  return { report, users, tokens, logs, options, found: new Set(report.findings.map(({ code }) => code as string)) }
}

/** The statements that create a table again with other definitions of its columns. */
const rebuilt = (table: string, columns: string, select: string) => [
  `create table rebuilt_ (${columns})`,
  `insert into rebuilt_ ${select}`,
  `drop table ${table}`,
  `alter table rebuilt_ rename to ${table}`,
]

test('columns in another case and order, unknown columns and missing newer columns are imported or reported', async () => {
  const { report, users, tokens, logs, options, found } = await importedFrom(
    changed(
      'alter table users rename column "group" to "GROUP"',
      'alter table users rename column id to Id',
      'alter table users add column favourite_colour text',
      ...rebuilt(
        'tokens',
        'Name text, "KEY" text, Status integer, User_Id integer, ID integer primary key, Remain_Quota integer, Unlimited_Quota numeric',
        'select name, key, status, user_id, id, remain_quota, unlimited_quota from tokens',
      ),
      'alter table options rename column key to "Key"',
      'alter table options rename column value to "VALUE"',
      'alter table logs rename column quota to Quota',
      'alter table logs rename to Logs_',
      'alter table Logs_ rename to LOGS',
      'alter table logs drop column request_id',
      'alter table logs drop column username',
      'alter table channels drop column used_quota',
      'alter table channels drop column system_prompt',
      'alter table redemptions rename column status to STATUS',
      'create table Notes (Id text primary key, Note text)',
      `insert into Notes values ('1', 'x'), ('second', 'y')`,
    ),
  )
  expect(users.map(({ username, group }) => [username, group])).toEqual([
    ['root', 'default'],
    ['mia', 'default'],
  ])
  expect(tokens).toMatchObject([{ user_id: 2, name: 'main', unlimited_quota: 1, used_quota: 0 }])
  expect(logs.map(({ type, quota }) => [type, quota])).toEqual([
    [4, 0],
    [2, 60],
  ])
  expect(options).toMatchObject([{ value: 'Ours' }])
  expect(report.findings.find(({ code }) => code === 'column_unknown')?.examples).toEqual(['users.favourite_colour'])
  expect([...found]).toContain('table_without_place')
  expect(report.added).toMatchObject({ channels: 1, codes: 1 })
}, 60_000)

test('values of another type, and NULL in columns that must not be null, are imported or reported', async () => {
  const from = changed(
    ...['users', 'tokens', 'channels', 'logs'].map((table) => `create table ${table}_ as select * from ${table}`),
    ...rebuilt(
      'users',
      `id integer primary key, username text /*....*/, password text /*....*/, role integer, status integer, quota numeric
          check (quota >= 0), used_quota text, request_count blob, "group" text, email text`,
      `select id, username, password, role, status, quota, used_quota, request_count, "group", email from users_`,
    ),
    `insert into users (id, username, password, role, status, quota, used_quota, request_count) values
        (3, 'ben', 'x', 1, 1, 12.75, ' 5.9 ', '7'), (4, 'eva', 'x', 'admin', 'active', 'lots', 'abc', x'37'), (5, 'kim', 'x', 1, 2, 1e3, '1e2', x'00ff')`,
    'pragma ignore_check_constraints = on',
    'update users set quota = -5 where id = 5',
    'update users set username = null, password = null where id = 5',
    ...rebuilt(
      'logs',
      'id integer primary key, user_id text, created_at text, type text, content blob, quota text',
      'select id, user_id, created_at, type, content, quota from logs_',
    ),
    `insert into logs values (3, '2', '2026-01-01 00:00:00', '2', x'6869', '3.9'), (4, 2, 1790000000000, 2, 5, 6.9), (5, null, null, 'two', null, 'x')`,
    `insert into tokens (id, user_id, key, name, status, expired_time, remain_quota) values (2, 2, 'a', 'a', 1, 'never', 10), (3, 2, 12345, 'b', 'on', -1, 10)`,
    ...['users', 'tokens', 'channels', 'logs'].map((table) => `drop table ${table}_`),
  )
  // SQLite does not allow a rule that the rows already break, so it is written into the file.
  writeFileSync(from, readFileSync(from, 'latin1').replaceAll('/*....*/', 'not null'), 'latin1')
  const { users, tokens, logs, found, report } = await importedFrom(from)
  expect(
    users.map(({ username, status, role, quota, used_quota, request_count }) => [
      username,
      status,
      role,
      quota,
      used_quota,
      request_count,
    ]),
  ).toEqual([
    ['root', 1, 100, 1000, 0, 0],
    ['mia', 1, 1, 5000, 70, 2],
    ['ben', 1, 1, 12, 5, 7],
    ['eva', 2, 1, 0, 0, 7],
    ['user_5', 2, 1, 0, 100, 0],
  ])
  expect(logs.map(({ type, quota, created_at }) => [type, quota, created_at])).toEqual([
    [4, 0, 1_790_000_000],
    [2, 60, 1_790_000_001],
    [2, 3, 1_767_225_600],
    [2, 6, 1_790_000_000],
    [4, 0, 0],
  ])
  expect(tokens.map(({ name, status }) => [name, status])).toEqual([
    ['main', 1],
    ['a', 2],
    ['b', 2],
  ])
  for (const code of [
    'amount_not_number',
    'amount_fraction',
    'amount_negative',
    'status_unreadable',
    'expiry_unreadable',
  ])
    expect([...found]).toContain(code)
  expect(report.sums.find(({ name }) => name === 'quota of charges')).toMatchObject({ there: 69, here: 69 })
}, 60_000)

test('rows of other tables are all kept, whatever their ids are', async () => {
  const numbered = (from: number, to: number, select: string) =>
    `with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) select ${select} from n`
  const from = changed(
    // Pages end after 500 rows, here within the rows of one id.
    'create table parts (id integer, part integer, primary key (id, part))',
    `insert into parts ${numbered(1, 700, 'max(i, 600) - min(i, 400), i')}`,
    'create table named (id int primary key, note text)',
    `insert into named ${numbered(1, 700, "'name-' || i, 'x'")}`,
    'create table halves (id integer, note text, primary key (id))',
    `insert into halves ${numbered(1, 700, "i, 'x'")}`,
    'create table gaps (id bigint primary key, note text)',
    `insert into gaps ${numbered(1, 700, "case when i > 600 then null else i / 2.0 end, 'x'")}`,
  )
  const { report } = await importedFrom(from)
  const counts = report.findings.filter(({ code }) => code === 'table_without_place')
  expect(counts.map(({ text, count }) => [text.split(' ')[2], count])).toEqual(
    ['parts', 'named', 'halves', 'gaps'].map((table) => [table, 700]),
  )
  expect(report.leftovers).toBe(2800)
}, 60_000)

test('rows in a write-ahead log that is still open are imported, and the files beside the source stay', async () => {
  const from = changed()
  const running = new Database(from)
  running.run('pragma journal_mode = wal')
  running.run('pragma wal_autocheckpoint = 0')
  running.run(`insert into users (id, username, password, quota) values (3, 'late', '${oldHash}', 9)`)
  const wal = readFileSync(`${from}-wal`)
  expect(wal.length).toBeGreaterThan(0)
  const { users } = await importedFrom(from)
  expect(users.map(({ username }) => username)).toEqual(['root', 'mia', 'late'])
  expect(readFileSync(`${from}-wal`)).toEqual(wal)
  running.run(`insert into users (id, username, password, quota) values (4, 'later', '${oldHash}', 9)`)

  // Copies of the file: with the log, and with an incomplete log.
  const copy = `${from}.copy`
  copyFileSync(from, copy)
  copyFileSync(`${from}-wal`, `${copy}-wal`)
  expect((await importedFrom(copy)).users).toHaveLength(4)
  for (const end of ['-wal', '-shm'])
    if (existsSync(`${copy}${end}`)) truncateSync(`${copy}${end}`, end === '-wal' ? wal.length + 50 : 0)
  expect((await importedFrom(copy)).users).toHaveLength(3)
  running.close()
}, 60_000)

describe('a file that cannot be read ends the command with one sentence and exit code 1', () => {
  const cases: [name: string, source: () => string | [string, () => void], words: string][] = [
    ['cut in the header', () => cut(60), 'not a SQLite database'],
    ['cut after the first page', () => cut(4096), 'It is damaged or not a SQLite database: copy it again'],
    ['cut within a page', () => cut(3 * 4096 + 100), 'It is damaged or not a SQLite database: copy it again'],
    ['without its last page', () => cut(-4096), 'It is damaged or not a SQLite database: copy it again'],
    ['without its last byte', () => cut(-1), 'It is damaged or not a SQLite database: copy it again'],
    ['overwritten in the middle', () => overwritten(), 'It is damaged or not a SQLite database: copy it again'],
    [
      'with rows without an id',
      () =>
        changed(
          ...rebuilt('tokens', 'id, user_id, key, status, remain_quota', 'select null, 2, key, 1, 1 from tokens'),
        ),
      'The table tokens has a row without an id',
    ],
    [
      'with text ids',
      () =>
        changed(
          ...rebuilt('tokens', 'id text, user_id, key, status, remain_quota', `select 'a-1', 2, key, 1, 1 from tokens`),
        ),
      'that is not a whole number',
    ],
    [
      'with ids that are fractions',
      () =>
        changed(...rebuilt('tokens', 'id, user_id, key, status, remain_quota', 'select 1.5, 2, key, 1, 1 from tokens')),
      'The table tokens has a row without an id, or with an id that is not a whole number',
    ],
    [
      'with ids that are only a part of a key and occur twice',
      () =>
        changed(
          ...rebuilt(
            'tokens',
            'id int, user_id int, key text, status, remain_quota, primary key (id, user_id)',
            'select 1, user.id, key || user.id, 1, 1 from tokens, users user',
          ),
        ),
      'The table tokens has several rows with the id 1',
    ],
    [
      'with ids that occur twice',
      () =>
        changed(
          'create table users_ as select * from users',
          'insert into users_ select * from users',
          'drop table users',
          'alter table users_ rename to users',
        ),
      'The table users has several rows with the id 1',
    ],
    [
      'with log ids that occur twice',
      () =>
        changed(
          'create table logs_ as select * from logs',
          'insert into logs_ select * from logs',
          'drop table logs',
          'alter table logs_ rename to logs',
        ),
      'The table logs has several rows with the id 1',
    ],
    ['whose program ended in the middle of a write', () => withJournal(), 'start and stop it once'],
    ['that its program has locked', () => locked(), 'is locked by its program'],
  ]
  test('for every kind of fault', async () => {
    await using installation = new Installation()
    await installation.create()
    for (const [name, source, words] of cases) {
      const made = source()
      const [from, release] = typeof made === 'string' ? [made, undefined] : made
      const { code, output } = await installation.run('import', '--from', from)
      release?.()
      expect([name, code, output]).toEqual([name, 1, expect.stringContaining(words)])
      expect([name, output.trim().split('\n').length]).toEqual([name, 1])
    }
    const store = openStore({ url: installation.databaseUrl })
    expect(await store.read.selectFrom('users').select('username').execute()).toEqual([{ username: 'root' }])
    expect(await store.read.selectFrom('imports').selectAll().execute()).toEqual([])
    await store.close()
  }, 120_000)
})

/** A source whose file is cut at a length, or by a negative length. */
function cut(length: number): string {
  const from = changed(`with recursive n(i) as (select 10 union all select i + 1 from n where i < 600)
    insert into logs (id, user_id, type, content) select i, 2, 4, 'a row of the log' from n`)
  const { length: whole } = readFileSync(from)
  if (length < whole) truncateSync(from, length < 0 ? whole + length : length)
  return from
}

function overwritten(): string {
  const from = cut(Number.MAX_SAFE_INTEGER)
  const bytes = readFileSync(from)
  bytes.fill(0xa5, 5 * 4096, 6 * 4096)
  writeFileSync(from, bytes)
  return from
}

/** A copy that was made during a write, with the journal that is needed to undo it. */
function withJournal(): string {
  const from = changed()
  const running = new Database(from)
  running.run('pragma cache_size = 1')
  running.run('pragma cache_spill = 1')
  running.run('begin')
  running.run('update users set quota = quota + 1')
  for (let at = 0; at < 2000; at++)
    running.run(`insert into logs (user_id, type, content) values (2, 4, '${'x'.repeat(200)}')`)
  const copy = `${from}.copy`
  copyFileSync(from, copy)
  copyFileSync(`${from}-journal`, `${copy}-journal`)
  running.run('rollback')
  running.close()
  return copy
}

function locked(): [string, () => void] {
  const from = changed()
  const running = new Database(from)
  running.run('begin exclusive')
  running.run('update users set quota = quota + 1')
  return [from, () => running.close()]
}

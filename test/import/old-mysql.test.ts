// MySQL and MariaDB databases as old and hand-made installations have them. All rows are imported with the right values,
// or the report names them.
import { afterAll, describe, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { type Mariadb, mariadbMissing, startMariadb } from '../helpers/mariadb.ts'
import { imported, sum } from './imported.ts'
import { oldHash } from './own-samples.ts'

let mariadb: Promise<Mariadb> | undefined
afterAll(async () => (await mariadb)?.[Symbol.asyncDispose]())
let loaded = 0

async function sourceOf(sql: string): Promise<string> {
  mariadb ??= startMariadb()
  return (await mariadb).load(`old${++loaded}`, `set sql_mode = ''; ${sql}`)
}

/** The tables of new-api. The parameters replace single definitions. */
const newApi = ({ deleted = 'datetime(3) null', charset = 'utf8mb4', more = '' } = {}) => `
  create table users (id bigint auto_increment primary key, username varchar(191) unique, password longtext not null,
    display_name varchar(191), role bigint default 1, status bigint default 1, email varchar(191), github_id varchar(191),
    quota bigint default 0, used_quota bigint default 0, request_count bigint default 0, \`group\` varchar(64) default 'default',
    aff_code varchar(32), inviter_id bigint, deleted_at ${deleted}) charset ${charset};
  create table tokens (id bigint auto_increment primary key, user_id bigint, \`key\` char(48), status bigint default 1,
    name varchar(191), created_time bigint, accessed_time bigint, expired_time bigint default -1, remain_quota bigint default 0,
    unlimited_quota tinyint(1), model_limits_enabled tinyint(1), model_limits text, allow_ips text, used_quota bigint default 0,
    \`group\` varchar(64) default '', deleted_at ${deleted}) charset ${charset};
  create table channels (id bigint auto_increment primary key, type bigint default 0, \`key\` longtext, status bigint default 1,
    name varchar(191), weight bigint unsigned, created_time bigint, base_url varchar(191), other longtext, balance double,
    models longtext, \`group\` varchar(64) default 'default', used_quota bigint default 0, model_mapping text,
    priority bigint default 0, auto_ban bigint default 1, setting text) charset ${charset};
  create table redemptions (id bigint auto_increment primary key, user_id bigint, \`key\` char(32), status bigint default 1,
    name varchar(191), quota bigint default 100, created_time bigint, redeemed_time bigint, used_user_id bigint,
    deleted_at ${deleted}) charset ${charset};
  create table options (\`key\` varchar(191) primary key, value longtext) charset ${charset};
  create table logs (id bigint auto_increment primary key, user_id bigint, created_at bigint, type bigint, content longtext,
    username varchar(191) default '', token_name varchar(191) default '', model_name varchar(191) default '',
    quota bigint default 0, prompt_tokens bigint default 0, completion_tokens bigint default 0, channel_id bigint,
    token_id bigint default 0, is_stream tinyint(1), other longtext) charset ${charset};
  ${more}`

const root = `insert into users (id, username, password, role, quota) values (1, 'root', '${oldHash}', 100, 1000);`
const channel = `insert into channels (id, type, \`key\`, name, models, base_url) values (1, 1, 'sk-up', 'up', 'gpt-4o', 'https://up.example');`

interface Row {
  [column: string]: unknown
}

/** Imports a source, and returns the report and the rows of the installation. The audit must not find a fault. */
async function importedFrom(sql: string) {
  const from = await sourceOf(sql)
  await using installation = new Installation()
  await installation.create()
  const dry = await imported(installation, '--from', from, '--dry-run')
  const report = await imported(installation, '--from', from)
  // A dry run counts a table without a counterpart once, an import counts its rows.
  const figures = ({ added, findings }: typeof report) => [
    added,
    findings.map(({ kind, text, count }) => [text, kind.startsWith('table') ? 1 : count]),
  ]
  expect(figures(dry)).toEqual(figures(report))
  const again = await imported(installation, '--from', from)
  expect(again).toMatchObject({ mode: 'again', added: { users: 0, tokens: 0, channels: 0, codes: 0, logs: 0 } })
  expect((await installation.run('audit')).output).toContain('0 faults.')
  const store = openStore({ url: installation.databaseUrl })
  const rows = async (table: 'users' | 'tokens' | 'channels' | 'redemptions' | 'logs') =>
    (await store.read.selectFrom(table).selectAll().orderBy('id').execute()) as Row[]
  const [users, tokens, channels, codes, logs] = await Promise.all(
    (['users', 'tokens', 'channels', 'redemptions', 'logs'] as const).map(rows),
  )
  const options = await store.read.selectFrom('options').selectAll().execute()
  await store.close()
  const found: Record<string, number> = {}
  for (const { code, count } of report.findings) found[code ?? ''] = (found[code ?? ''] ?? 0) + count
  return { report, found, users, tokens, channels, codes, logs, options }
}

const pick = (rows: Row[] | undefined, ...names: string[]) => rows?.map((row) => names.map((name) => row[name]))

if (mariadbMissing !== undefined) test.skip(`old MySQL databases (${mariadbMissing})`, () => undefined)
else
  describe('old MySQL databases', () => {
    const dated = `${root} ${channel}
      insert into users (id, username, password, quota, deleted_at) values
        (2, 'mia', '${oldHash}', 10, '0000-00-00 00:00:00'), (3, 'gone', '${oldHash}', 20, '2024-05-01 10:00:00');
      insert into tokens (id, user_id, \`key\`, name, remain_quota, unlimited_quota, expired_time, deleted_at) values
        (1, 2, 'key-one', 'one', 5, 0, -1, '0000-00-00 00:00:00'), (2, 2, 'key-two', 'two', 7, 1, -1, '2024-05-01'),
        (3, 1, 'key-three', 'three', 9, 1, 0, 0);
      insert into redemptions (id, user_id, \`key\`, name, quota, deleted_at) values
        (1, 1, 'code-one', 'c', 3, '0000-00-00'), (2, 1, 'code-two', 'c', 4, '2024-05-01');`

    test('0000-00-00 in a column that cannot be null means not deleted, as in the queries of the program', async () => {
      const { report, found, users, tokens, codes } = await importedFrom(
        `${newApi({ deleted: `datetime not null default '0000-00-00 00:00:00'` })} ${dated}`,
      )
      expect(pick(users, 'id', 'status', 'quota')).toEqual([
        [1, 1, 1000],
        [2, 1, 10],
        [3, 3, 20],
      ])
      expect(pick(tokens, 'id', 'name')).toEqual([
        [1, 'one'],
        [3, 'three'],
      ])
      expect(pick(codes, 'id')).toEqual([[1]])
      expect(sum(report, 'tokens')).toMatchObject({ there: 2, corrected: 0, here: 2 })
      expect(found['deleted_zero_date']).toBeUndefined()
    }, 60_000)

    test('0000-00-00 in a column that can be null means deleted, as in the queries of the program, and is reported', async () => {
      const { found, users, tokens, codes } = await importedFrom(
        `${newApi()} ${dated} update users set deleted_at = null where id = 1; update tokens set deleted_at = null where id = 3;`,
      )
      expect(pick(users, 'id', 'status')).toEqual([
        [1, 1],
        [2, 3],
        [3, 3],
      ])
      expect(pick(tokens, 'id')).toEqual([[3]])
      expect(codes).toEqual([])
      expect(found['deleted_zero_date']).toBe(3)
    }, 60_000)

    test('texts in latin1, utf8mb3, gbk and binary columns keep their characters', async () => {
      const { users, tokens, channels, logs, options } = await importedFrom(`${newApi()}
        alter table users convert to character set latin1; alter table tokens convert to character set utf8mb3;
        alter table channels convert to character set gbk;
        alter table options modify \`key\` varbinary(191), modify value longblob;
        alter table logs convert to character set big5, modify username varbinary(191);
        ${root} insert into users (id, username, password, display_name, quota) values
          (2, 'José Muñoz', '${oldHash}', 'Ünïcödé', 10), (3, 'joseph', '${oldHash}', 'ÿ', 10);
        insert into tokens (id, user_id, \`key\`, name) values (1, 2, 'key-one', '测试 é');
        insert into channels (id, type, \`key\`, name, models, base_url) values (1, 1, 'k', '渠道一', 'gpt-4o', 'https://up.example');
        insert into options values ('SystemName', 'Gateway 网关 😀'), ('Notice', 'Grüße');
        insert into logs (id, user_id, created_at, type, content, username, token_name) values
          (1, 2, 1790000000, 4, '中文記錄', 'José Muñoz', '測試');`)
      expect(pick(users, 'username', 'display_name')).toEqual([
        ['root', 'root'],
        ['José Muñoz', 'Ünïcödé'],
        ['joseph', 'ÿ'],
      ])
      expect(pick(tokens, 'name')).toEqual([['测试 é']])
      expect(pick(channels, 'name')).toEqual([['渠道一']])
      expect(pick(logs, 'content', 'username', 'token_name')).toEqual([['中文記錄', 'José Muñoz', '測試']])
      expect(Object.fromEntries(options.map(({ key, value }) => [key, value]))).toMatchObject({
        SystemName: 'Gateway 网关 😀',
        Notice: 'Grüße',
      })
    }, 60_000)

    test('columns of other types have the same values, and values that are no numbers are reported', async () => {
      const { report, found, users, tokens, channels, codes, logs } = await importedFrom(`${newApi()}
        alter table users modify quota decimal(20, 4), modify used_quota double, modify request_count varbinary(20),
          modify role tinyint(1), modify status varchar(20), modify id int unsigned;
        alter table tokens modify unlimited_quota bit(1), modify model_limits_enabled varchar(5), modify status bit(1),
          modify remain_quota varchar(30), modify used_quota bigint unsigned, modify expired_time varchar(30);
        alter table channels modify model_mapping json, modify setting json, modify used_quota float, modify status tinyint(1),
          modify auto_ban bit(1);
        alter table redemptions modify status char(5), modify quota decimal(10, 2), modify \`key\` varbinary(32);
        alter table logs modify type varchar(5), modify quota decimal(20, 6), modify is_stream bit(1), modify created_at datetime;
        insert into users (id, username, password, role, status, quota, used_quota, request_count) values
          (1, 'root', '${oldHash}', 100, '1', 1000.5, 0, '0'), (2, 'mia', '${oldHash}', 1, '1', 12.75, 3.9, ' 7 '),
          (3, 'ben', '${oldHash}', 1, 'off', 1.75, 1e300, '12 abc'), (4, 'eva', '${oldHash}', 10, '2', null, null, '1e2');
        insert into tokens (id, user_id, \`key\`, name, status, remain_quota, unlimited_quota, used_quota, expired_time, model_limits_enabled, model_limits) values
          (1, 2, 'key-one', 'one', b'1', '12.9', b'1', 3, '-1', 'false', 'x'), (2, 2, 'key-two', 'two', b'1', 'much', b'0', 18446744073709551615, '2027-01-01 00:00:00', 'true', 'gpt-4o'),
          (3, 2, 'key-three', 'three', b'0', '1e3', b'0', 0, 'never', null, null);
        insert into channels (id, type, \`key\`, name, models, base_url, model_mapping, setting, used_quota, status, auto_ban) values
          (1, 1, 'k', 'up', 'gpt-4o', 'https://up.example', '{"gpt-4o":"gpt-4o-mini"}', '{"system_prompt":"be brief"}', 12.5, 3, b'1');
        insert into redemptions (id, user_id, \`key\`, status, name, quota) values (1, 1, 'a', '1', 'c', 3.99), (2, 1, 'b', 'used', 'c', 3), (3, 1, 'c', '3', 'c', 3);
        insert into logs (id, user_id, created_at, type, quota, is_stream, channel_id) values (1, 2, '2026-01-01 00:00:00', '2', 3.9, b'1', 1), (2, 2, '0000-00-00', '2', 1.9, b'0', 1), (3, 2, null, '?', 1, null, 1);
        create table wide (id bigint unsigned primary key, flag bit(4), at timestamp null, data json);
        insert into wide values (18446744073709551615, b'101', '2026-01-01', '{"a":[1]}'), (9223372036854775809, null, null, 'null');
        create table parts (id bigint, part bigint, primary key (id, part));
        insert into parts select if(seq between 450 and 550, 450, seq), seq from seq_1_to_700;
        create table blanks (id bigint unique, note text); insert into blanks values (null, 'x'), (1, 'y');
        create view shown as select username from users; create view broken as select username, id from users; create sequence counter;
        alter table users rename column display_name to shown_name; `)
      expect(pick(users, 'quota', 'used_quota', 'request_count', 'status', 'role')).toEqual([
        [1000, 0, 0, 1, 100],
        [12, 3, 7, 1, 1],
        [1, 1e15, 0, 2, 1],
        [0, 0, 100, 2, 10],
      ])
      expect(pick(tokens, 'name', 'status', 'remain_quota', 'unlimited_quota', 'used_quota', 'models')).toEqual([
        ['one', 1, 12, 1, 3, null],
        ['two', 1, 0, 0, 1e15, 'gpt-4o'],
        ['three', 2, 1000, 0, 0, null],
      ])
      expect(pick(tokens, 'expired_time')).toEqual([[-1], [1_798_761_600], [-1]])
      expect(pick(channels, 'model_mapping', 'system_prompt', 'used_quota', 'status')).toEqual([
        ['{"gpt-4o":"gpt-4o-mini"}', 'be brief', 12, 3],
      ])
      expect(pick(codes, 'key', 'status', 'quota')).toEqual([
        ['a', 1, 3],
        ['b', 2, 3],
        ['c', 3, 3],
      ])
      expect(pick(logs, 'created_at', 'type', 'quota', 'is_stream')).toEqual([
        [1_767_225_600, 2, 3, 1],
        [0, 2, 1, 0],
        [0, 4, 1, 0],
      ])
      expect(found).toMatchObject({
        amount_not_number: 1,
        amount_fraction: 6,
        status_unreadable: 2,
        expiry_unreadable: 1,
        table_without_place: 2 + 700 + 2,
      })
      expect(report.findings.find(({ code }) => code === 'column_unknown')?.examples).toEqual(['users.shown_name'])
    }, 60_000)

    test('names of tables and columns in other case are recognised', async () => {
      const { report, users, tokens, channels, codes, logs, options } =
        await importedFrom(`${newApi()} ${root} ${channel}
        insert into users (id, username, password, quota, \`group\`) values (2, 'mia', '${oldHash}', 10, 'vip');
        insert into tokens (id, user_id, \`key\`, name) values (1, 2, 'key-one', 'one');
        insert into redemptions (id, user_id, \`key\`, name) values (1, 1, 'code', 'c');
        insert into options values ('SystemName', 'Ours');
        insert into logs (id, user_id, created_at, type, quota, channel_id) values (1, 2, 1790000000, 2, 5, 1);
        create table Extra (ID varchar(10) primary key, Note text); insert into Extra values ('1', 'n'), ('b', 'm');
        create table LOGS (id int primary key); insert into LOGS values (1);
        rename table users to Users_, tokens to TOKENS, channels to Channels, redemptions to Redemptions, options to OPTIONS;
        rename table Users_ to Users;
        alter table Users rename column id to ID, rename column username to UserName, rename column \`group\` to \`Group\`;
        alter table TOKENS rename column \`key\` to \`KEY\`, rename column user_id to User_ID;
        alter table OPTIONS rename column \`key\` to \`Key\`, rename column value to Value;
        alter table logs rename column quota to Quota, rename column id to Id;`)
      expect(pick(users, 'id', 'username', 'group')).toEqual([
        [1, 'root', 'default'],
        [2, 'mia', 'vip'],
      ])
      expect(pick(tokens, 'user_id', 'name')).toEqual([[2, 'one']])
      expect([channels?.length, codes?.length]).toEqual([1, 1])
      expect(pick(logs, 'user_id', 'quota', 'type')).toEqual([[2, 5, 2]])
      expect(options).toContainEqual(expect.objectContaining({ key: 'SystemName', value: 'Ours' }))
      const left = report.findings.filter(({ code }) => code === 'table_without_place').map(({ text }) => text)
      expect(left.sort()).toEqual(['The table LOGS has no counterpart.', 'The table extra has no counterpart.'])
    }, 60_000)

    test('SQL modes and limits of the server change nothing', async () => {
      const rows = `${root} ${channel} insert into users (id, username, password) values (2, 'mia', '${oldHash}'), (3, 'ben', '${oldHash}');
        insert into tokens (id, user_id, \`key\`, name, expired_time) values (1, 2, 'key-one', 'one', -1), (2, 2, 'key-two', 'two', -1);
        insert into options values ('SystemName', 'Ours'), ('Notice', '');
        insert into logs (id, user_id, created_at, type, quota) values (1, 2, 1790000000, 2, 5), (2, 2, 1790000000, 2, 5);`
      const modes = [
        'ORACLE',
        'PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES',
        'STRICT_ALL_TABLES,NO_ZERO_DATE',
        'MSSQL',
        '',
      ]
      for (const mode of modes) {
        const { users, tokens, logs, options } = await importedFrom(
          `${newApi()} ${rows} set global sql_mode = '${mode}'; set global sql_select_limit = 1;`,
        )
        expect([mode, users?.length, logs?.length]).toEqual([mode, 3, 2])
        expect(pick(tokens, 'name')).toEqual([['one'], ['two']])
        expect(options).toContainEqual(expect.objectContaining({ key: 'SystemName', value: 'Ours' }))
      }
    }, 90_000)

    test('ids that do not identify rows stop the import with one sentence', async () => {
      await using installation = new Installation()
      await installation.create()
      for (const [change, words] of [
        [
          'alter table logs modify id bigint, drop primary key; insert into logs (id) values (7), (7)',
          'several rows with the id 7',
        ],
        [
          'alter table tokens modify id bigint null, drop primary key; insert into tokens (user_id) values (2)',
          'a row without an id',
        ],
        [
          'alter table users modify id decimal(10, 2); insert into users (id) values (3.5)',
          'an id that is not a whole',
        ],
        [
          'alter table tokens modify id bigint, drop primary key, add primary key (id, user_id); insert into tokens (id, user_id) values (7, 1), (7, 2)',
          'The table tokens has several rows with the id 7',
        ],
        ['alter table channels modify id varchar(20)', 'has the type varchar, not a whole number'],
        ['alter table logs drop column id', 'its table logs has no id'],
      ] as const) {
        const from = await sourceOf(`${newApi()} ${root} ${channel} ${change};`)
        const { code, output } = await installation.run('import', '--from', from)
        expect([code, output]).toEqual([1, expect.stringContaining(words)])
        expect(output.trim().split('\n').length).toBeLessThan(3)
      }
    }, 60_000)
  })

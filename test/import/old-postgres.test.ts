// PostgreSQL databases of the same programs, with columns of other types, as tools that move a database from MySQL leave
// them.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { runImport } from '../../server/import/run-import.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import { openStore } from '../../server/store/connection/open.ts'
import type { OpenedStore } from '../../server/store/connection/open-options.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { newMigratedPostgresDatabase } from '../helpers/templates.ts'
import { imported } from './imported.ts'
import { oldHash, ownSource, smallRows } from './own-samples.ts'

async function sourceOf(sql: string): Promise<string> {
  const { url } = await newPostgresDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
  return url
}

const tables = `
  create table users (id numeric(20) primary key, username varchar(191), password text, role text, status varchar(10),
    quota numeric(20, 4), used_quota double precision, request_count text, "group" char(20) default 'default');
  create table tokens (id bigint primary key, user_id numeric, key char(60), name text, status boolean, remain_quota text,
    unlimited_quota smallint, used_quota real, expired_time text, deleted_at timestamp);
  create table channels (id int primary key, type text, key text, name text, status smallint, models text, base_url text,
    "group" text default 'default', used_quota numeric, model_mapping jsonb, config json);
  create table redemptions (id int primary key, user_id int, key bytea, name text, status text, quota text);
  create table options (key text primary key, value text);
  create table logs (id bigint primary key, user_id int, created_at timestamptz, type text, content text, quota numeric, channel_id text);`

const rows = `
  insert into users values (1, 'root', '${oldHash}', '100', '1', 1000.5, 0, '0'), (2, 'mia', '${oldHash}', '1', '1', 12.75, 3.9, ' 7 '),
    (3, 'ben', '${oldHash}', 'admin', 'off', 'NaN', 'Infinity', '12 abc'), (4, 'eva', '${oldHash}', '10', '2', null, null, '1e2');
  insert into tokens values (1, 2, 'key-one', 'one', true, '12.9', 1, 3.5, '-1', null),
    (2, 2, 'key-two', 'two', false, 'much', 0, 'NaN', '2027-01-01 00:00:00', null),
    (4, 2, 'key-four', 'four', true, '1e999999', 0, 0, '-1', null), (5, 2, 'key-five', 'five', true, '1e-999999', 0, 0, '-1', null),
    (6, 2, 'key-six', 'six', true, '1e0002', 0, 0, '-1', null), (3, 2, 'key-gone', 'gone', true, '5', 0, 0, null, now());
  insert into channels values (1, '1', 'k', 'up', 3, 'gpt-4o', 'https://up.example', 'default', 12.5, '{"gpt-4o":"gpt-4o-mini"}', '{}');
  insert into redemptions values (1, 1, 'a', 'c', '1', '3.99'), (2, 1, 'b', 'c', 'used', 'x');
  insert into logs values (1, 2, '2026-01-01 00:00:00+00', '2', null, 3.9, '1'), (2, 2, null, ' 2 ', 'x', 1.9, 'x'), (3, 2, null, '?', null, 1, null);
  create table wide (id varchar(20) primary key, data jsonb); insert into wide values ('7', '{"a":[1]}'), ('seven', null);
  create table spans (id interval primary key); insert into spans values ('2 days');
  create table blanks (id int unique, note text); insert into blanks values (null, 'x'), (1, 'y');
  create view shown as select * from users; create view failing as select 1 / 0 as id;`

if (postgresMissing !== undefined) test.skip(`old PostgreSQL databases (${postgresMissing})`, () => undefined)
else
  describe('old PostgreSQL databases', () => {
    test('columns of other types have the same values, and values that are no numbers are reported', async () => {
      const from = await sourceOf(tables + rows)
      await using installation = new Installation()
      await installation.create()
      const report = await imported(installation, '--from', from)
      expect(await imported(installation, '--from', from)).toMatchObject({
        mode: 'again',
        added: { users: 0, logs: 0 },
      })
      expect((await installation.run('audit')).output).toContain('0 faults.')
      const store = openStore({ url: installation.databaseUrl })
      const users = await store.read.selectFrom('users').selectAll().orderBy('id').execute()
      const tokens = await store.read.selectFrom('tokens').selectAll().orderBy('id').execute()
      const channels = await store.read.selectFrom('channels').selectAll().orderBy('id').execute()
      const codes = await store.read.selectFrom('redemptions').selectAll().orderBy('id').execute()
      const logs = await store.read.selectFrom('logs').selectAll().orderBy('id').execute()
      await store.close()
      expect(users.map((user) => [user.quota, user.used_quota, user.request_count, user.status, user.role])).toEqual([
        [1000, 0, 0, 1, 100],
        [12, 3, 7, 1, 1],
        [0, 0, 0, 2, 1],
        [0, 0, 100, 2, 10],
      ])
      expect(tokens.map((token) => [token.name, token.status, token.remain_quota, token.used_quota])).toEqual([
        ['one', 1, 12, 3],
        ['two', 2, 0, 0],
        ['four', 1, 0, 0],
        ['five', 1, 0, 0],
        ['six', 1, 100, 0],
      ])
      expect(tokens.map(({ expired_time }) => expired_time)).toEqual([-1, 1_798_761_600, -1, -1, -1])
      expect(channels).toMatchObject([
        { type: 1, status: 3, used_quota: 12, model_mapping: '{"gpt-4o":"gpt-4o-mini"}' },
      ])
      expect(codes.map(({ key, status, quota }) => [key, status, quota])).toEqual([
        ['a', 1, 3],
        ['b', 2, 0],
      ])
      expect(logs.map(({ type, quota, created_at, channel_id }) => [type, quota, created_at, channel_id])).toEqual([
        [2, 3, 1_767_225_600, 1],
        [2, 1, 0, 0],
        [4, 1, 0, 0],
      ])
      const found = report.findings.map(({ code }) => code as string)
      for (const code of ['amount_not_number', 'amount_fraction', 'status_unreadable']) expect(found).toContain(code)
      expect(report.findings.find(({ text }) => text === 'The table wide has no counterpart.')).toMatchObject({
        count: 2,
      })
      expect(report.findings.filter(({ text }) => /shown|failing/.test(text))).toEqual([])
      const left = readFileSync(report.leftoversFile, 'utf8').split('\n')
      expect(
        ['spans', 'blanks'].map((table) => left.filter((line) => line.includes(`"id":"${table} `)).length),
      ).toEqual([1, 2])
    }, 60_000)

    test('ids that do not identify rows stop the import with one sentence', async () => {
      await using installation = new Installation()
      await installation.create()
      for (const [change, words] of [
        [
          'alter table logs drop constraint logs_pkey; insert into logs (id) values (7), (7)',
          'several rows with the id 7',
        ],
        ['alter table channels alter column id type text', 'has the type text, not a whole number'],
        [
          'alter table tokens drop constraint tokens_pkey, alter column id drop not null; update tokens set id = null',
          'a row without an id',
        ],
        [
          'drop view shown; alter table users alter column id type numeric; insert into users (id) values (3.5)',
          'The table users has a row without an id, or with an id that is not',
        ],
        [
          'alter table channels alter column id type interval using make_interval(days => id)',
          'has the type interval, not a whole number',
        ],
      ] as const) {
        const from = await sourceOf(`${tables}${rows}${change};`)
        const { code, output } = await installation.run('import', '--from', from)
        expect([code, output]).toEqual([1, expect.stringContaining(words)])
        expect(output.trim().split('\n').length).toBeLessThan(3)
      }
    }, 60_000)

    test('the file of leftovers exists only if the import does, whatever happens to its transaction', async () => {
      const { users, ...rows } = smallRows()
      const from = ownSource('new-api', { ...rows, users: users.map((user) => ({ ...user, remark: 'a note' })) })
      const { url } = await newMigratedPostgresDatabase()
      await using installation = new Installation(url)
      await installation.create()
      const store = openStore({ url })
      const transaction: OpenedStore['write'] = (work) => store.write(work)
      const lost = new Error('Connection terminated unexpectedly')
      const undone: OpenedStore['write'] = (work) =>
        transaction(async (trx) => {
          await work(trx)
          throw lost
        })
      const run = (changes: Partial<OpenedStore>) =>
        runImport(
          {
            ...{ store: { ...store, ...changes }, secrets: createSecrets('test secret key of the installation') },
            ...{ nowMs: Date.now, variable: () => undefined, progress: () => undefined },
          },
          {
            ...{ from, logsFrom: undefined, litellmConfig: undefined, only: new Set(), since: 0 },
            ...{ merge: false, dryRun: false, dataDir: installation.folder },
          },
        )
      const files = () => readdirSync(join(installation.folder, 'imports'))

      // The database aborts the first attempt, and undoes the second one.
      const twice = run({
        async writeUnlimited(work) {
          await undone(work).catch(() => undefined)
          return undone(work)
        },
      })
      await expect(twice).rejects.toThrow('Connection terminated')
      expect(files()).toEqual([])

      // The connection is lost, and no new one can be made, so that nobody knows whether the import was committed.
      const unknown = run({ writeUnlimited: undone, write: () => Promise.reject(lost) })
      const [kept] = await Promise.all([unknown.catch((error: Error) => error.message), unknown.catch(() => undefined)])
      expect(files()).toHaveLength(1)
      expect(kept).toContain(`keep ${join(installation.folder, 'imports', files()[0] ?? '')}, which`)

      // The connection is lost after the commit.
      let isLost = false
      const report = await run({
        async writeUnlimited(work) {
          const result = await transaction(work)
          if (isLost) return result
          isLost = true
          throw lost
        },
      })
      expect(report).toMatchObject({ mode: 'empty', added: { users: 2, logs: 2 }, leftovers: 2 })
      expect(readFileSync(report.leftoversFile, 'utf8').trim().split('\n')).toHaveLength(2)
      await store.close()
    }, 60_000)
  })

import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from './installed.ts'

const calls = 300
const tables = ['users', 'tokens', 'channels', 'holds', 'limit_windows']

/** Records each version of a row that an update makes, with the transaction that made it. */
async function watchVersions(store: Store): Promise<void> {
  await store.write(async (trx) => {
    await sql`create table versions (name text, changed text, made_by xid8)`.execute(trx)
    await sql`create function note_version() returns trigger language plpgsql as $$ begin
      insert into versions values (tg_table_name, coalesce(to_jsonb(new)->>'id', to_jsonb(new)->>'owner_id' || ' ' || (to_jsonb(new)->>'second')), pg_current_xact_id());
      return null;
    end $$`.execute(trx)
    for (const table of tables)
      await sql
        .raw(`create trigger note after update on ${table} for each row execute function note_version()`)
        .execute(trx)
  })
}

const title = 'postgres: one transaction changes a row once, however many calls of one account it is for'
const cases = [
  ['without limits', undefined, 0],
  // With limits, the counts per minute are written twice per call: when it begins and when it ends.
  ['with limits', { rpm_limit: 1_000_000, tpm_limit: 1_000_000_000 }, 2],
] as const
for (const [name, limits, mostOfWindows] of cases) {
  if (postgresMissing !== undefined) {
    test.skip(`${title}, ${name} (${postgresMissing})`, () => undefined)
    continue
  }
  test(`${title}, ${name}`, async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using database = await newPostgresDatabase()
    await using installation = new Installation(database.url)
    const gateway = await installation.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, calls * pricePerCall * 1000)
    const store = openStore({ url: database.url })
    if (limits) await store.write((trx) => trx.updateTable('tokens').set(limits).where('id', '=', token.id).execute())
    await watchVersions(store)
    const answers = await Promise.all(
      Array.from({ length: calls }, () =>
        gateway
          .post('/v1/chat/completions', { model, messages, max_tokens: 10 }, token.key)
          .then(({ status }) => status),
      ),
    )
    expect(new Set(answers)).toEqual(new Set([200]))
    const { rows } = await sql<{ name: string; most: number; versions: number }>`
      select name, max(n)::int as most, sum(n)::int as versions from (
        select name, count(*) as n from versions group by name, changed, made_by) each_row group by name order by name
    `.execute(store.read)
    const byName = new Map(rows.map((row) => [row.name, row]))
    for (const table of ['users', 'tokens', 'channels']) expect(byName.get(table)?.most).toBe(1)
    // Calls that are made at the same time share transactions.
    expect(byName.get('users')?.versions).toBeLessThan(calls)
    expect(byName.get('holds')?.most ?? 1).toBe(1)
    expect(byName.get('limit_windows')?.most ?? 0).toBeLessThanOrEqual(mostOfWindows)
    const user = await store.read
      .selectFrom('tokens')
      .select('used_quota')
      .where('id', '=', token.id)
      .executeTakeFirst()
    expect(user?.used_quota).toBe(calls * pricePerCall)
    await store.close()
  })
}

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../server/store/connection/open.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import { answer, installFor, messages, model, newToken, pricePerCall, promptTokens } from '../money/installed.ts'
import { allRowsOf } from './support.ts'

const missing = postgresMissing === undefined ? '' : ` (${postgresMissing})`

test.skipIf(missing !== '')(
  `SQLite → PostgreSQL → SQLite gives equal tables, and each of them serves calls${missing}`,
  async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using source = new Installation()
    const gateway = await source.start()
    await installFor(gateway, upstream.url)
    const token = await newToken(gateway, 10_000)
    const call = (key: string) => gateway.post('/v1/chat/completions', { model, messages }, key)
    for (let calls = 0; calls < 8; calls++) expect((await call(token.key)).status).toBe(200)
    // Ids of deleted rows are not used again.
    const gone = await newToken(gateway, 10)
    await gateway.api('DELETE', `/api/token/${gone.id}`)

    const postgres = await newPostgresDatabase()
    const running = await source.run('migrate-to', postgres.url)
    expect(running.output).toContain('A server is running on the database')
    expect(running.code).toBe(1)
    await gateway.stop()
    await addOddRows(source.databaseUrl)

    const before = await allRowsOf(source.databaseUrl)
    const there = await source.run('migrate-to', postgres.url)
    expect(there.output).toContain('; 0 faults.')
    expect(there.code).toBe(0)
    expect(await allRowsOf(source.databaseUrl)).toEqual(before)
    const moved = await allRowsOf(postgres.url)
    const { audit_events: events = [] } = moved
    expect(events).toHaveLength((before['audit_events']?.length ?? 0) + 1)
    expect({ ...moved, audit_events: events.filter((row) => !row.includes('installation.move')) }).toEqual(
      before as typeof moved & { audit_events: string[] },
    )

    await using middle = new Installation(postgres.url)
    const file = join(middle.folder, 'back.db')
    const back = await middle.run('migrate-to', `sqlite:${file}`)
    expect(back.output).toContain('; 0 faults.')
    expect(back.code).toBe(0)
    const last = await allRowsOf(file)
    const { audit_events: lastEvents = [] } = last
    expect({ ...last, audit_events: [] }).toEqual({ ...before, audit_events: [] })
    expect(lastEvents).toHaveLength(events.length + 1)

    // The installation continues where it stopped, and new rows get new ids.
    const other = await middle.start()
    expect((await other.post('/v1/chat/completions', { model, messages }, token.key)).status).toBe(200)
    expect((await newToken(other, 10)).id).toBe(gone.id + 1)
    expect((await other.api<{ remain_quota: number }>('GET', `/api/token/${token.id}`)).remain_quota).toBe(
      10_000 - 9 * pricePerCall,
    )
    const refused = await middle.run('migrate-to', `sqlite:${join(middle.folder, 'again.db')}`)
    expect(refused.output).toContain('A server is running on this database')
    await other.stop()
    const filled = await middle.run('migrate-to', `sqlite:${file}`)
    expect(filled.output).toContain(
      'The database already contains an installation. Use --replace to run migrate-to in its place',
    )
    await postgres.drop()
  },
  120_000,
)

/** Values that the two databases could store differently. */
async function addOddRows(url: string): Promise<void> {
  const store = openStore({ url })
  await store.write(async (trx) => {
    const event = { created_at: 1, actor_id: 0, actor_name: 'x', action: 'option.update', target: '', ip: '' }
    const details = [
      '',
      '\\',
      '\'quotes\' "and"',
      '日本語 🚀',
      'a\nb\tc\r',
      '\\u0041',
      '{"a":[1]}',
      'null',
      'x'.repeat(999),
    ]
    await trx
      .insertInto('audit_events')
      .values(details.map((detail) => ({ ...event, detail })))
      .execute()
    await trx
      .updateTable('channels')
      .set({ balance: 0.1 + 0.2 })
      .execute()
    await trx
      .insertInto('options')
      .values({ key: 'Footer', value: '🚀'.repeat(200_000) })
      .execute()
  })
  await store.close()
}

test('an invalid target is refused in one sentence', async () => {
  await using source = new Installation()
  await source.create()
  for (const [target, message] of [
    ['mysql://root@localhost/x', 'The other database must be postgres://… or sqlite:PATH (MySQL is not supported).'],
    [`sqlite:${source.databaseUrl}`, 'The other database is the one that the installation is in already.'],
    ['postgres://nobody@127.0.0.1:1/none', 'the database cannot be reached'],
  ] as const) {
    const { code, output } = await source.run('migrate-to', target)
    expect(output).toContain(message)
    expect(code).toBe(1)
  }
  await using none = new Installation()
  expect((await none.run('migrate-to', `sqlite:${join(none.folder, 'x.db')}`)).output).toContain(
    'There is no installation',
  )
  expect(existsSync(join(none.folder, 'x.db'))).toBe(false)
})

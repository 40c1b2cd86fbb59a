import type { Selectable } from 'kysely'
import type { ChannelTestsTable } from '../schema/channel-tables.ts'
import type { Db, Trx } from '../store.ts'

/** The number of tests that are kept per channel. */
const mostTests = 20

export type ChannelTestRow = Omit<Selectable<ChannelTestsTable>, 'id' | 'channel_id'>

/** Records the result of a test, and deletes the oldest results beyond `mostTests`. */
export async function addChannelTest(trx: Trx, channelId: number, test: ChannelTestRow): Promise<void> {
  await trx
    .insertInto('channel_tests')
    .values({ channel_id: channelId, ...test })
    .execute()
  await trx
    .deleteFrom('channel_tests')
    .where('channel_id', '=', channelId)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('channel_tests')
        .select('id')
        .where('channel_id', '=', channelId)
        .orderBy('id', 'desc')
        .limit(mostTests),
    )
    .execute()
}

/** The tests of a channel, newest first. */
export async function channelTests(db: Db, channelId: number): Promise<ChannelTestRow[]> {
  const rows = await db
    .selectFrom('channel_tests')
    .select(['created_at', 'model', 'ok', 'elapsed_time', 'message'])
    .where('channel_id', '=', channelId)
    .orderBy('id', 'desc')
    .limit(mostTests)
    .execute()
  return rows.map((row) => ({ ...row, ok: Boolean(row.ok) }))
}

import type { Db, Trx } from '../store.ts'

/** The text of a channel's price feed; '' if it has none or does not exist. */
export async function priceFeedOf(db: Db, id: number): Promise<string> {
  const row = await db.selectFrom('channels').select('price_feed').where('id', '=', id).executeTakeFirst()
  return row?.price_feed ?? ''
}

/** The channels whose prices are read on a schedule. */
export function channelsWithFeeds(db: Db): Promise<{ id: number; name: string; price_feed: string }[]> {
  return db
    .selectFrom('channels')
    .select(['id', 'name', 'price_feed'])
    .where('price_feed', '<>', '')
    .orderBy('id')
    .execute()
}

export async function setPriceFeed(trx: Trx, id: number, feed: string): Promise<void> {
  await trx.updateTable('channels').set({ price_feed: feed }).where('id', '=', id).execute()
}

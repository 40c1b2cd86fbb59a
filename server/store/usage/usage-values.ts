import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { startsWith } from '../statements/conditions.ts'
import type { Db } from '../store.ts'
import { usageRows } from './usage-rows.ts'
import { type HourRange, kindFor } from './usage-series.ts'

/** What values can be listed of. */
export type ValueColumn = 'model_name' | 'token_name' | 'username' | 'channel_id'

/** A value that occurs in log rows, what people call it, and the number of these rows. */
export interface FoundValue {
  value: string | number
  name: string
  rows: number
}

/** The values of a column that occur in most rows of a range, most frequent first. */
export async function usageValues(
  db: Db,
  ask: { column: ValueColumn; userId?: number | undefined; range: HourRange; keyword: string; limit: number },
): Promise<FoundValue[]> {
  const { column, userId, range, keyword, limit } = ask
  const filter = userId === undefined ? {} : { userId }
  const found = usageRows({ kind: kindFor(filter, [column]), filter, range, group: column, figures: ['requests'] })
  const isOfChannels = column === 'channel_id'
  const begins = (name: string): RawBuilder<SqlBool> =>
    keyword === '' ? sql<SqlBool>`true` : startsWith(sql.ref<string>(name), keyword)
  const named = isOfChannels
    ? sql`select v.g as value, coalesce(c.name, '') as name, v.requests from grouped v
        left join channels c on c.id = v.g where v.g > 0 and ${begins('c.name')}`
    : sql`select v.g as value, v.g as name, v.requests from grouped v where v.g <> '' and ${begins('v.g')}`
  const { rows } = await sql<FoundValue>`
    with found as (${found}),
    grouped as materialized (select g, cast(sum(requests) as bigint) as requests from found group by g),
    named as (${named})
    select value, name, requests as rows from named where requests > 0
    order by requests desc, value limit ${limit}`.execute(db)
  return rows
}

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { startsWith } from '../statements/conditions.ts'
import type { Db } from '../store.ts'
import { usageRows } from './usage-rows.ts'
import { groupOf, type HourRange, kindFor } from './usage-series.ts'

/** The columns whose values can be listed. */
export type ValueColumn = 'model_name' | 'token_name' | 'project' | 'username' | 'channel_id'

/** A value that occurs in log rows, the name to show for it, and the number of these rows. */
export interface FoundValue {
  value: string | number
  name: string
  rows: number
}

interface Ask {
  userId?: number | undefined
  range: HourRange
  keyword: string
  limit: number
}

const nameBegins = (name: RawBuilder<string>, keyword: string): RawBuilder<SqlBool> =>
  keyword === '' ? sql<SqlBool>`true` : startsWith(name, keyword)

/** The values of a column that occur in the most rows of a range, most frequent first. */
export async function usageValues(db: Db, ask: Ask & { column: ValueColumn }): Promise<FoundValue[]> {
  const { column, userId, range, keyword, limit } = ask
  const filter = userId === undefined ? {} : { userId }
  const found = usageRows({ kind: kindFor(filter, [column]), filter, range, group: column, figures: ['requests'] })
  const isOfChannels = column === 'channel_id'
  const begins = (name: string) => nameBegins(sql.ref<string>(name), keyword)
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

/** The groups whose users and tokens have the most rows in a range, most frequent first. */
export async function usageGroups(db: Db, { userId, range, keyword, limit }: Ask): Promise<FoundValue[]> {
  const filter = userId === undefined ? {} : { userId }
  const kind = kindFor(filter, ['user_id', 'token_id'])
  const keys = { group: 'user_id', second: 'token_id' } as const
  const found = usageRows({ kind, filter, range, ...keys, figures: ['requests'] })
  const { rows } = await sql<FoundValue>`
    with found as (${found}),
    owners as materialized (
      select g as user_id, h as token_id, cast(sum(requests) as bigint) as requests from found group by g, h
    ),
    named as (select ${groupOf('owners')} as value, requests from owners)
    select value, value as name, cast(sum(requests) as bigint) as rows from named
    where value <> '' and requests > 0 and ${nameBegins(sql.ref<string>('value'), keyword)}
    group by value order by 3 desc, 1 limit ${limit}`.execute(db)
  return rows
}

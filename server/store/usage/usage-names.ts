import { type RawBuilder, sql } from 'kysely'
import { type Dimension, uncounted } from './usage-series.ts'

/**
 * A table `k`, `name`, `owner` of the users, tokens or channels whose ids a query selects: their current names, or the
 * names when they were last used. The owner is the user of a token, and '' for everything else.
 */
export function namesTable(dimension: Dimension, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  if (dimension === 'user_id') return userNames(ids)
  if (dimension === 'token_id') return tokenNames(ids)
  return sql`select id as k, name, '' as owner from channels where id in (${ids})`
}

/** The newest series and the newest log row of each id, for ids that no longer have a row of their own. */
const lastSeries = (kind: 'user' | 'token', ids: RawBuilder<unknown>) => sql`
  select max(x.id) from usage_series x where x.kind = ${sql.lit(kind)} and ${sql.ref(`x.${kind}_id`)} in (${ids})
  group by ${sql.ref(`x.${kind}_id`)}`
const lastRow = (kind: 'user' | 'token', ids: RawBuilder<unknown>) => sql`
  select max(l.id) from logs l where ${uncounted} and ${sql.ref(`l.${kind}_id`)} in (${ids})
  group by ${sql.ref(`l.${kind}_id`)}`

function userNames(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select u.id as k, u.username as name, '' as owner from users u where u.id in (${ids})
    union all
    select s.user_id, s.username, '' from usage_series s where s.id in (${lastSeries('user', ids)})
      and not exists (select 1 from users u where u.id = s.user_id)
    union all
    select r.user_id, r.username, '' from logs r where r.id in (${lastRow('user', ids)})
      and not exists (select 1 from users u where u.id = r.user_id)
      and not exists (select 1 from usage_series s where s.kind = 'user' and s.user_id = r.user_id)`
}

function tokenNames(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.id as k, t.name, coalesce(u.username, '') as owner from tokens t left join users u on u.id = t.user_id
      where t.id in (${ids})
    union all
    select s.token_id, s.token_name, s.username from usage_series s where s.id in (${lastSeries('token', ids)})
      and not exists (select 1 from tokens t where t.id = s.token_id)
    union all
    select r.token_id, r.token_name, r.username from logs r where r.id in (${lastRow('token', ids)})
      and not exists (select 1 from tokens t where t.id = r.token_id)
      and not exists (select 1 from usage_series s
        where s.kind = 'token' and s.user_id = r.user_id and s.token_id = r.token_id)`
}

import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import { userStatus } from '../../../contract/statuses.ts'
import type { Db } from '../store.ts'
import { rowsSince } from '../usage/recent-rows.ts'

/** The maximum number of failed calls that are read, newest first. */
const mostRead = 20_000
/** The maximum number of models or people in one result. */
const mostFound = 50

// The query contains the condition of the partial index on rows other than charged calls, because the databases use the
// index only then.
const failedSince = (since: number) => sql`
  select l.* from logs l where l.type <> 2 and l.type = ${sql.lit(logType.error)} and ${rowsSince(since)}
  order by l.id desc limit ${sql.lit(mostRead)}`

/** A model that was requested but cannot be served. */
export interface RefusedModel {
  model: string
  code: 'no_available_channel' | 'model_not_priced'
  /** The group of the callers; '' for a model without a price. */
  group: string
  calls: number
  since: number
}

/**
 * Models that were requested since a time (epoch seconds) but could not be served, most requested first. A model is
 * included if it had no price at the time, or if the caller's group still has no enabled channel for it. This function
 * does not check whether the model has a price now; the caller does.
 */
export async function refusedModels(db: Db, since: number): Promise<RefusedModel[]> {
  const { rows } = await sql<RefusedModel>`
    with refused as (${failedSince(since)}),
    named as (
      select r.code, r.left_out, r.created_at,
        case when r.code = 'model_not_priced' and r.model_name <> '' then r.model_name
          when r.asked_model <> '' then r.asked_model else r.model_name end as model,
        case when r.code = 'model_not_priced' then '' else u."group" end as user_group
      from refused r join users u on u.id = r.user_id
      where r.code in ('no_available_channel', 'model_not_priced')
    )
    select model, code, user_group as "group", cast(sum(1 + left_out) as bigint) as calls, min(created_at) as since
    from named where model <> '' and not exists (
      select 1 from abilities a where named.code = 'no_available_channel'
        and a."group" = named.user_group and a.model = named.model and a.enabled)
    group by model, code, user_group order by 4 desc, 1 limit ${sql.lit(mostFound)}`.execute(db)
  return rows
}

/** A person whose calls were refused for lack of quota. */
export interface RefusedPerson {
  id: number
  username: string
  quota: number
  calls: number
  since: number
}

/** People whose calls were refused since a time (epoch seconds) and who still have less quota than `below`. */
export async function refusedPeople(db: Db, since: number, below: number): Promise<RefusedPerson[]> {
  const { rows } = await sql<RefusedPerson>`
    with refused as (${failedSince(since)})
    select u.id, u.username, u.quota, cast(sum(1 + r.left_out) as bigint) as calls, min(r.created_at) as since
    from refused r join users u on u.id = r.user_id
    where r.code = 'insufficient_user_quota' and u.quota < ${below} and u.status = ${sql.lit(userStatus.enabled)}
    group by u.id, u.username, u.quota order by 4 desc, 1 limit ${sql.lit(mostFound)}`.execute(db)
  return rows
}

/** Failed calls of one user with the same error code. */
export interface OwnFailures {
  code: string
  message: string
  count: number
  last: number
}

const mostOwnRows = 5000
const mostCodes = 10

/** A user's failed calls since a time (epoch seconds), by error code. */
export async function ownFailures(db: Db, userId: number, since: number): Promise<OwnFailures[]> {
  const { rows } = await sql<OwnFailures>`
    with newest as (
      select l.id, l.type, l.code, l.left_out, l.created_at from logs l
      where l.user_id = ${userId} and ${rowsSince(since)}
      order by l.id desc limit ${sql.lit(mostOwnRows)}
    ),
    counted as (
      select code, cast(sum(1 + left_out) as bigint) as count, max(created_at) as last, max(id) as id from newest
      where type = ${sql.lit(logType.error)} and created_at >= ${since} group by code
    )
    select counted.code, counted.count, counted.last, l.content as message
    from counted join logs l on l.id = counted.id order by counted.count desc, counted.code
    limit ${sql.lit(mostCodes)}`.execute(db)
  return rows
}

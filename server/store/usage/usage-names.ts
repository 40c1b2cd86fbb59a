import { type RawBuilder, sql } from 'kysely'
import { type Dimension, uncounted } from './usage-series.ts'

/**
 * Joins the names of users, tokens or channels to the rows `grouped`, whose column `key` contains their ids.
 * `nameColumns` reads the names. The joins do not use a common table expression, because SQLite analyses it again for
 * each reference to it, and limits the number of subqueries in a statement.
 */
export function nameJoins(dimension: Dimension, key: 'g' | 'h'): RawBuilder<unknown> {
  if (dimension === 'channel_id') return sql.raw(`left join channels c_${key} on c_${key}.id = grouped.${key}`)
  if (dimension === 'user_id')
    return sql`${sql.raw(`left join users u_${key} on u_${key}.id = grouped.${key}`)} ${lastUsed('user', key)}`
  return sql`${sql.raw(`left join tokens t_${key} on t_${key}.id = grouped.${key}
    left join users u_${key} on u_${key}.id = t_${key}.user_id`)} ${lastUsed('token', key)}`
}

/**
 * SQL expressions for the current name and the owner. For a user or token that no longer exists, the name is the one
 * with which it was last used. The owner of a token is its user; for users and channels it is ''.
 */
export function nameColumns(dimension: Dimension, key: 'g' | 'h'): { name: string; owner: string } {
  // The name of a deleted channel is not known, so its id is used.
  if (dimension === 'channel_id') return { name: `coalesce(c_${key}.name, cast(grouped.${key} as text))`, owner: "''" }
  if (dimension === 'user_id')
    return { name: `coalesce(u_${key}.username, s_${key}.username, r_${key}.username, '')`, owner: "''" }
  return {
    name: `coalesce(t_${key}.name, s_${key}.token_name, r_${key}.token_name, '')`,
    owner: `coalesce(u_${key}.username, s_${key}.username, r_${key}.username, '')`,
  }
}

/** For each id whose user or token no longer exists, its newest series and its newest uncounted log row. */
function lastUsed(kind: 'user' | 'token', key: 'g' | 'h'): RawBuilder<unknown> {
  const id = `${kind}_id`
  const isDeleted = (alias: string) => `not exists (select 1 from ${kind}s known where known.id = ${alias}.${id})`
  return sql`
    left join (
      select x.${sql.raw(id)} as k, max(x.id) as id from usage_series x
      where x.kind = ${sql.lit(kind)} and ${sql.raw(isDeleted('x'))} group by x.${sql.raw(id)}
    ) ${sql.raw(`series_${key} on series_${key}.k = grouped.${key}`)}
    left join usage_series ${sql.raw(`s_${key} on s_${key}.id = series_${key}.id`)}
    left join (
      select l.${sql.raw(id)} as k, max(l.id) as id from logs l
      where ${uncounted} and ${sql.raw(isDeleted('l'))} group by l.${sql.raw(id)}
    ) ${sql.raw(`rows_${key} on rows_${key}.k = grouped.${key}`)}
    left join logs ${sql.raw(`r_${key} on r_${key}.id = rows_${key}.id`)}`
}

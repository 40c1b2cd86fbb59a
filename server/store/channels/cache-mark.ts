import { type RawBuilder, sql } from 'kysely'
import type { Store } from '../store.ts'
import { routingColumns } from './routing-rows.ts'

/**
 * A text that changes when the options, the input of routing, or the rules of recordings may have changed in the
 * database. Reading it costs one short query, however many rows there are.
 */
export async function cacheMark({ read, foreignWrites }: Store): Promise<string> {
  // Only writes by other processes matter, because this process sends notices for its own writes.
  if (foreignWrites) return String(foreignWrites())
  const texts = [
    rowsOf('options', ['key', 'value', 'sealed'], 'key'),
    rowsOf('channels', routingColumns, 'id'),
    rowsOf('channel_dead_keys', ['channel_id', 'key_hash'], 'channel_id, key_hash'),
    sql`(select string_agg(v::text, ',' order by name) from virtual_models v)`,
    sql`(select string_agg(r::text, ',' order by id) from capture_rules r)`,
  ]
  const { rows } = await sql<{ mark: string }>`select md5(concat_ws(';', ${sql.join(texts)})) as mark`.execute(read)
  return rows[0]?.mark ?? ''
}

/** The rows of a table as one text. */
function rowsOf(table: string, columns: readonly string[], order: string): RawBuilder<unknown> {
  const listed = sql.join(columns.map((column) => sql.ref(column)))
  return sql`(select string_agg(row(${listed})::text, ',' order by ${sql.raw(order)}) from ${sql.table(table)})`
}

import { sql } from 'kysely'
import type { Db } from '../../store.ts'

/**
 * A partition of the log on PostgreSQL. Most partitions contain the rows of one month. If the log was not partitioned
 * at first, one partition contains all rows before a certain month, or all rows.
 */
export interface LogPartition {
  /** The name of its table. */
  name: string
  /** Epoch seconds; undefined = no limit. */
  from: number | undefined
  until: number | undefined
  /** True for the default partition, which contains the rows that belong to no other partition. */
  isDefault: boolean
}

/** The default partition. The partitions of months are created with the same indexes. */
export const defaultPartition = 'logs_default'

const bounds = /^FOR VALUES FROM \('?(?<from>-?\d+|MINVALUE)'?\) TO \('?(?<until>-?\d+|MAXVALUE)'?\)$/

/** The partitions of the log, oldest first. There are none on SQLite or while the table is not partitioned. */
export async function logPartitions(db: Db): Promise<LogPartition[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass('logs')`.execute(db)
  return rows
    .map(({ name, bound }) => {
      const { from, until } = bounds.exec(bound)?.groups ?? {}
      return { name, from: secondsOf(from), until: secondsOf(until), isDefault: bound === 'DEFAULT' }
    })
    .sort((a, b) => (a.from ?? Number.NEGATIVE_INFINITY) - (b.from ?? Number.NEGATIVE_INFINITY))
}

const secondsOf = (text: string | undefined) => (text === undefined || !/\d/.test(text) ? undefined : Number(text))

/**
 * True for a partition that contains all rows of the log. It was made from an unpartitioned table and has no bounds
 * yet.
 */
export const isWhole = ({ from, until, isDefault }: LogPartition) =>
  !isDefault && from === undefined && until === undefined

/** True if rows of the given time (epoch seconds) belong to the partition. */
export const covers = ({ from, until, isDefault }: LogPartition, seconds: number) =>
  !isDefault && (from ?? Number.NEGATIVE_INFINITY) <= seconds && seconds < (until ?? Number.POSITIVE_INFINITY)

/** A calendar month, UTC. */
export interface Month {
  /** The name of its partition. */
  name: string
  /** Epoch seconds. */
  from: number
  until: number
}

/** The month that contains a time (epoch seconds), or the month that is `later` months after it. */
export function monthAt(seconds: number, later = 0): Month {
  const at = new Date(seconds * 1000)
  const start = (plus: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later + plus) / 1000
  const name = `logs_${new Date(start(0) * 1000).toISOString().slice(0, 7).replace('-', '_')}`
  return { name, from: start(0), until: start(1) }
}

/** The number of rows in the default partition, at most `limit`. */
export async function strayRows(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`select 1 from ${sql.table(defaultPartition)} limit ${limit}`.execute(db)
  return rows.length
}

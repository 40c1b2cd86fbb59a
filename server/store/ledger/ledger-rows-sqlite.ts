import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { LogRow } from '../schema/ledger-types.ts'

// The rows that the ledger writes on SQLite, as lists of values.

/** For each column of a log row, its value. A new column needs a line here. The compiler reports a missing line. */
const logRow = {
  user_id: (log) => log.user_id,
  created_at: (log) => log.created_at,
  type: (log) => log.type,
  // If the balances did not cover the whole price, the row's content says so.
  content: ({ content }, charged, price) =>
    charged < price ? `${content}; price ${price}, only ${charged} could be charged` : content,
  username: (log) => log.username,
  token_name: (log) => log.token_name,
  model_name: (log) => log.model_name,
  quota: (_log, charged) => charged,
  prompt_tokens: (log) => log.prompt_tokens,
  completion_tokens: (log) => log.completion_tokens,
  channel_id: (log) => log.channel_id,
  request_id: (log) => log.request_id,
  elapsed_time: (log) => log.elapsed_time,
  is_stream: (log) => log.is_stream,
  system_prompt_reset: (log) => log.system_prompt_reset,
  token_id: (log) => log.token_id,
  first_byte_time: (log) => log.first_byte_time,
  cached_tokens: (log) => log.cached_tokens,
  reasoning_tokens: (log) => log.reasoning_tokens,
  estimated: (log) => log.estimated,
  outcome: (log) => log.outcome,
  attempts: (log) => log.attempts,
  asked_model: (log) => log.asked_model ?? '',
  kept_place: (log) => log.kept_place ?? null,
  cost: (log) => log.cost ?? null,
  request: (log) => log.request ?? null,
} satisfies Record<Exclude<keyof LogRow, FailedCallColumn> | 'quota', LogValue>

/** Columns that only rows of failed calls fill. The ledger writes no such rows. */
type FailedCallColumn = 'endpoint' | 'status' | 'code' | 'upstream_message' | 'left_out' | 'left_out_since'

type LogValue = (log: LogRow, charged: number, price: number) => SQLQueryBindings

/** The columns of a log row, in the order of the values that `addLogRow` adds. */
export const logColumns: readonly string[] = Object.keys(logRow)

// The list is created once, because looking up each value by its name would cost time in every call.
const logValues: readonly LogValue[] = Object.values(logRow)

export const holdColumns = [
  'id',
  'user_id',
  'token_id',
  'amount',
  'crash_charge',
  'node_id',
  'created_at',
  'model_name',
  'request_id',
  'token_limited',
  'channel_id',
  'prompt_tokens',
  'completion_tokens',
] as const

/** Adds the values of a log row in the order of `logColumns`. */
export function addLogRow(rows: RowValues, log: LogRow, price: number, charged: number): void {
  for (const value of logValues) rows.push(value(log, charged, price))
}

/** Values of rows, one row after the other, each in column order. */
export type RowValues = SQLQueryBindings[]

/**
 * The numbers of rows per statement, largest first. With these sizes, a batch of any size takes only a few statements.
 */
const sizes = [16, 8, 4, 2, 1] as const

/** The statement that inserts this many rows into a table. */
export function insertInto(table: string, columns: readonly string[], rows = 1): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${new Array(rows).fill(row).join(', ')}`
}

/**
 * Prepares the insertion of many rows into one SQLite table. A statement with several rows costs little more than one
 * with a single row, because most of the cost is in starting the statement. Rows are inserted in order. An empty list
 * does nothing.
 */
export function prepareInserts(
  database: Database,
  table: string,
  columns: readonly string[],
): (values: RowValues) => void {
  const inserts = sizes.map((rows) => ({
    count: rows * columns.length,
    statement: database.prepare(insertInto(table, columns, rows)),
  }))
  return (values) => {
    let from = 0
    for (const { count, statement } of inserts) {
      for (; values.length - from >= count; from += count) statement.run(...values.slice(from, from + count))
    }
  }
}

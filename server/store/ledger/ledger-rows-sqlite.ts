import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { LogRow } from '../schema/ledger-types.ts'

// The rows that the ledger writes on SQLite, as lists of values.

/**
 * The columns of a log row and their values. The compiler reports a column that is missing from the object. One object
 * for each row is faster than a function for each column.
 */
function columnsOf(log: LogRow, price: number, charged: number) {
  return {
    user_id: log.user_id,
    created_at: log.created_at,
    type: log.type,
    // If the balances did not cover the whole price, the content also contains the price and the amount that was
    // charged.
    content: charged < price ? `${log.content}; price ${price}, only ${charged} could be charged` : log.content,
    username: log.username,
    token_name: log.token_name,
    model_name: log.model_name,
    quota: charged,
    prompt_tokens: log.prompt_tokens,
    completion_tokens: log.completion_tokens,
    channel_id: log.channel_id,
    request_id: log.request_id,
    elapsed_time: log.elapsed_time,
    is_stream: log.is_stream,
    system_prompt_reset: log.system_prompt_reset,
    token_id: log.token_id,
    first_byte_time: log.first_byte_time,
    cached_tokens: log.cached_tokens,
    reasoning_tokens: log.reasoning_tokens,
    estimated: log.estimated,
    outcome: log.outcome,
    attempts: log.attempts,
    asked_model: log.asked_model ?? '',
    kept_place: log.kept_place ?? null,
    cost: log.cost ?? null,
    request: log.request ?? null,
  } satisfies Record<Exclude<keyof LogRow, FailedCallColumn> | 'quota', SQLQueryBindings>
}

/** Columns that have a value only in rows of failed calls. The ledger does not write such rows. */
type FailedCallColumn = 'endpoint' | 'status' | 'code' | 'upstream_message' | 'left_out' | 'left_out_since'

/** The columns of a log row, in the order of the values that `logRowOf` returns. All rows have the same columns. */
export const logColumns: readonly string[] = Object.keys(columnsOf({} as LogRow, 0, 0))

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

/** The values of a log row in the order of `logColumns`. */
export function logRowOf(log: LogRow, price: number, charged: number): RowValues {
  return Object.values(columnsOf(log, price, charged))
}

/** The values of one row, in column order. */
export type RowValues = SQLQueryBindings[]

/**
 * The numbers of rows per statement, largest first. With these sizes, a batch of any size takes only a few statements.
 */
const sizes = [16, 8, 4, 2, 1] as const

/** The statement that inserts `rows` rows into a table. */
export function insertInto(table: string, columns: readonly string[], rows = 1): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${new Array(rows).fill(row).join(', ')}`
}

/**
 * Prepares a function that inserts any number of rows into one SQLite table, in order. It inserts several rows with
 * each statement, because a statement with several rows takes little more time than one with a single row. With an
 * empty list, the function does nothing.
 */
export function prepareInserts(
  database: Database,
  table: string,
  columns: readonly string[],
): (rows: readonly RowValues[]) => void {
  const inserts = sizes.map((count) => ({ count, statement: database.prepare(insertInto(table, columns, count)) }))
  return (rows) => {
    let from = 0
    for (const { count, statement } of inserts) {
      for (; rows.length - from >= count; from += count) {
        // `concat` copies whole rows, which costs less than adding their values to a list one by one. Bun accepts the
        // list itself in place of hundreds of arguments, but its types do not say so.
        const values: RowValues = []
        statement.run(values.concat(...rows.slice(from, from + count)) as never)
      }
    }
  }
}

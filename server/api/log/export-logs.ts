import { setImmediate } from 'node:timers/promises'
import type { Log } from '../../../contract/api/log.ts'
import { csvResponse } from '../../http/csv-response.ts'
import { byteOrderMark, csvLine } from '../../lib/csv.ts'
import type { LogFilter } from '../../store/logs/log-hours.ts'
import { type LogRow, walkLogs } from '../../store/logs/log-pages.ts'
import type { Db } from '../../store/store.ts'

const rowsPerStep = 500

/** The columns of the CSV file for everybody. Admins get `adminColumns`, too. */
const columns = [
  ['id', (log) => log.id],
  ['time', (log) => new Date(log.created_at * 1000).toISOString()],
  ['type', (log) => log.type],
  ['username', (log) => log.username],
  ['token_name', (log) => log.token_name],
  ['model_name', (log) => log.model_name],
  ['quota', (log) => log.quota],
  ['prompt_tokens', (log) => log.prompt_tokens],
  ['completion_tokens', (log) => log.completion_tokens],
  ['cached_tokens', (log) => log.cached_tokens],
  ['reasoning_tokens', (log) => log.reasoning_tokens],
  ['duration_ms', (log) => log.elapsed_time],
  ['first_byte_ms', (log) => log.first_byte_time],
  ['is_stream', (log) => log.is_stream],
  ['estimated', (log) => log.estimated],
  ['outcome', (log) => log.outcome],
  ['request_id', (log) => log.request_id],
  ['asked_model', (log) => log.asked_model],
  ['endpoint', (log) => log.endpoint],
  ['status', (log) => log.status],
  ['code', (log) => log.code],
  ['left_out', (log) => log.left_out],
  ['content', (log) => log.content],
] as const satisfies readonly Column[]

const adminColumns = [
  ['cost', (log) => log.cost ?? ''],
  ['channel', (log) => log.channel],
  ['attempts', (log) => log.attempts],
  ['upstream_message', (log) => log.upstream_message],
  ['kept_place', (log) => log.kept_place ?? ''],
] as const satisfies readonly Column[]

type Column = readonly [name: string, value: (log: Log) => string | number | boolean]

export interface Export {
  db: Db
  filter: LogFilter
  view(row: LogRow): Log
  isAdmin: boolean
  /** Called once when the export ends, for whatever reason. */
  ended(): void
  warn(message: string): void
}

/**
 * The matching rows as a CSV response. It is generated as fast as it is read, with at most a few hundred rows in
 * memory. If the reader disconnects, the work stops. If the database fails, the connection is aborted, so that the
 * client does not take the file for complete.
 */
export function exportLogs(ask: Export): Response {
  const { ended, warn } = ask
  return csvResponse({ name: 'logs.csv', lines: csvOf(ask), what: 'logs', ended, warn })
}

async function* csvOf({ db, filter, view, isAdmin }: Export): AsyncGenerator<string> {
  const chosen: readonly Column[] = isAdmin ? [...columns, ...adminColumns] : columns
  yield byteOrderMark + csvLine(chosen.map(([name]) => name))
  for await (const rows of walkLogs(db, filter, rowsPerStep)) {
    yield rows.map((row) => csvLine(lineOf(view(row), chosen))).join('')
    // Lets the process serve relayed requests between two steps.
    await setImmediate()
  }
}

function lineOf(log: Log, chosen: readonly Column[]): (string | number | boolean)[] {
  return chosen.map(([, value]) => value(log))
}

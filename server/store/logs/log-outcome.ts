import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { LogOutcome } from '../../../contract/log-outcomes.ts'
import { logType } from '../../../contract/log-types.ts'
import type { LogsTable } from '../schema/tables.ts'
import { type RowFilter, rowMatches } from '../usage/usage-series.ts'

/** Restricts log rows to calls that ended in a certain way; '' and absent fields match any row. */
export interface OutcomeFilter {
  outcome?: LogOutcome | ''
  /** With the outcome `slow`: the least duration of the calls. */
  slow_seconds?: number
}

const retried = sql<SqlBool>`l.attempts <> ''`

/** Each condition is that of an index of migration 12; with another text, the databases would not use the index. */
const indexed: Readonly<Record<Exclude<LogOutcome, 'slow'>, RawBuilder<SqlBool>>> = {
  failed: sql<SqlBool>`(l.type = 6 or (l.type = 2 and l.outcome in ('failed', 'interrupted')))`,
  retried,
  estimated: sql<SqlBool>`l.estimated = true`,
  // Every rescued call has several attempts, so the index of retried calls covers it.
  rescued: retried,
}

/** The text between two attempts of the JSON that a row stores. It cannot occur within a JSON string. */
const secondAttempt = '},{"channelId"'

/** The condition that an index covers; undefined for rows that no index knows. */
export function indexedCondition({ outcome }: OutcomeFilter): RawBuilder<SqlBool> | undefined {
  return outcome && outcome !== 'slow' ? indexed[outcome] : undefined
}

/** The outcome as a condition on log rows `l`. */
export function hasOutcome({ outcome, slow_seconds = 0 }: OutcomeFilter): RawBuilder<SqlBool> {
  switch (outcome) {
    case 'slow':
      return sql<SqlBool>`l.type in (2, 6) and l.elapsed_time >= ${slow_seconds * 1000}`
    case 'retried':
      return sql<SqlBool>`${indexed.retried} and l.attempts like ${`%${secondAttempt}%`}`
    case 'rescued':
      return sql<SqlBool>`${retried} and l.outcome = 'rescued'`
    case 'failed':
    case 'estimated':
      return indexed[outcome]
    default:
      return sql<SqlBool>`true`
  }
}

/** Whether a new row matches a filter of rows and outcomes. */
export function isWanted(row: Selectable<LogsTable>, filter: RowFilter & OutcomeFilter): boolean {
  return rowMatches(row, filter) && endedSo(row, filter)
}

function endedSo(row: Selectable<LogsTable>, { outcome, slow_seconds = 0 }: OutcomeFilter): boolean {
  const isError = row.type === logType.error
  const isCall = isError || row.type === logType.consume
  switch (outcome) {
    case 'failed':
      return isError || (isCall && (row.outcome === 'failed' || row.outcome === 'interrupted'))
    case 'slow':
      return isCall && row.elapsed_time >= slow_seconds * 1000
    case 'estimated':
      return Boolean(row.estimated)
    case 'retried':
      return row.attempts.includes(secondAttempt)
    case 'rescued':
      return row.outcome === 'rescued'
    default:
      return true
  }
}

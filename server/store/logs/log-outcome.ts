import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { LogOutcome } from '../../../contract/log-outcomes.ts'
import { logType } from '../../../contract/log-types.ts'
import type { LogsTable } from '../schema/tables.ts'
import { type RowFilter, rowMatches } from '../usage/usage-series.ts'

/** Restricts log rows to calls that ended in a certain way. '' is ignored. Absent and empty lists match any row. */
export interface OutcomeFilter {
  /** A row must have one of these outcomes. */
  outcome?: readonly (LogOutcome | '')[]
  /** A row must have none of these outcomes. Rows that are not calls have none. */
  not_outcome?: readonly (LogOutcome | '')[]
  /** The minimum duration of calls with the outcome `slow`. */
  slow_seconds?: number
}

const named = (outcomes: OutcomeFilter['outcome']) => (outcomes ?? []).filter((each) => each !== '')

/** True if a filter restricts outcomes. */
export function filtersOutcomes({ outcome, not_outcome }: OutcomeFilter): boolean {
  return named(outcome).length + named(not_outcome).length > 0
}

const retried = sql<SqlBool>`l.attempts <> ''`

/**
 * The conditions of the partial indexes that migration 12 creates. They must be the same text as in the migration, or
 * the databases do not use the indexes.
 */
const indexed: Readonly<Record<Exclude<LogOutcome, 'slow'>, RawBuilder<SqlBool>>> = {
  failed: sql<SqlBool>`(l.type = 6 or (l.type = 2 and l.outcome in ('failed', 'interrupted')))`,
  retried,
  estimated: sql<SqlBool>`l.estimated = true`,
  // In a rescued call, the stream broke and another attempt completed it. Such a call has several attempts, so the
  // index of retried calls contains it.
  rescued: retried,
}

/** The text between two attempts in the JSON that a row stores in `attempts`. It cannot occur within a JSON string. */
const secondAttempt = '},{"channelId"'

/**
 * The conditions of the indexes that together cover the rows of a filter; undefined if an outcome has no index, or if
 * the filter only excludes outcomes.
 */
export function indexedConditions({ outcome }: OutcomeFilter): RawBuilder<SqlBool>[] | undefined {
  const wanted = named(outcome)
  const conditions = new Set(wanted.flatMap((each) => (each === 'slow' ? [] : [indexed[each]])))
  return wanted.length === 0 || wanted.includes('slow') ? undefined : [...conditions]
}

/** The SQL condition that a row of `logs as l` has the outcomes that a filter requires. */
export function hasOutcome({ outcome, not_outcome, slow_seconds = 0 }: OutcomeFilter): RawBuilder<SqlBool> {
  const anyOf = (outcomes: readonly LogOutcome[]) =>
    sql`(${sql.join(
      outcomes.map((each) => sql`(${isOf(each, slow_seconds)})`),
      sql` or `,
    )})`
  const [wanted, excluded] = [named(outcome), named(not_outcome)]
  const parts = [
    ...(wanted.length > 0 ? [anyOf(wanted)] : []),
    ...(excluded.length > 0 ? [sql`not ${anyOf(excluded)}`] : []),
  ]
  return parts.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(parts, sql` and `)}`
}

function isOf(outcome: LogOutcome, slowSeconds: number): RawBuilder<SqlBool> {
  switch (outcome) {
    case 'slow':
      return sql<SqlBool>`l.type in (2, 6) and l.elapsed_time >= ${slowSeconds * 1000}`
    case 'retried':
      return sql<SqlBool>`${indexed.retried} and l.attempts like ${`%${secondAttempt}%`}`
    case 'rescued':
      return sql<SqlBool>`${retried} and l.outcome = 'rescued'`
    case 'failed':
    case 'estimated':
      return indexed[outcome]
  }
}

/** True if a new row matches a filter. Groups are not checked, because the row does not contain them. */
export function isWanted(row: Selectable<LogsTable>, filter: RowFilter & OutcomeFilter): boolean {
  const { outcome, not_outcome, slow_seconds = 0 } = filter
  const wanted = named(outcome)
  const ended = (each: LogOutcome) => endedSo(row, each, slow_seconds)
  return rowMatches(row, filter) && (wanted.length === 0 || wanted.some(ended)) && !named(not_outcome).some(ended)
}

function endedSo(row: Selectable<LogsTable>, outcome: LogOutcome, slowSeconds: number): boolean {
  const isError = row.type === logType.error
  const isCall = isError || row.type === logType.consume
  switch (outcome) {
    case 'failed':
      return isError || (isCall && (row.outcome === 'failed' || row.outcome === 'interrupted'))
    case 'slow':
      return isCall && row.elapsed_time >= slowSeconds * 1000
    case 'estimated':
      return Boolean(row.estimated)
    case 'retried':
      return row.attempts.includes(secondAttempt)
    case 'rescued':
      return row.outcome === 'rescued'
  }
}

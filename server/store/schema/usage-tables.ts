import type { Generated } from 'kysely'

/**
 * A series of log rows with the same dimensions, whose figures are added up. Columns that its `kind` does not
 * distinguish are 0 or ''. The figures in this table are the totals of all days that have been added up.
 */
export interface UsageSeriesTable extends UsageFigures {
  id: Generated<number>
  kind: string
  type: number
  user_id: number
  token_id: number
  channel_id: number
  model_name: string
  username: string
  token_name: string
}

/** Sums over log rows, whether or not the rows still exist. */
export interface UsageFigures {
  requests: number
  quota: number
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  /** The number of rows whose call was interrupted for a reason other than that the caller disconnected. */
  failed: number
  /** Milliseconds. */
  elapsed_time: number
  first_byte_time: number
  /** The number of rows with a first byte time. */
  first_byte_count: number
  /** For calls with a known cost: the cost for the operator, and the charge minus this cost. */
  cost: number
  margin: number
}

/** A day for which there are hourly sums, as a number of days since 1970 (UTC). */
export interface UsageDatesTable {
  day: number
}

/**
 * The sums of a series in one hour, and the id range of its rows. `slot` is the hour (hours since 1970), and `day` is
 * the day that contains the hour (days since 1970, UTC).
 */
export interface UsageHoursTable extends UsageFigures {
  day: number
  series_id: number
  slot: number
  /** The number of rows that still exist. Their ids range from `first_id` to `last_id`. */
  log_rows: number
  first_id: number
  last_id: number
}

/** The sums of a series on one day or in one week. `slot` is the number of the day or week, counted from 1970 (UTC). */
export interface UsageSlotsTable extends UsageFigures {
  series_id: number
  slot: number
}

/**
 * The state of the rollup, in a single row. Log rows up to the id `folded_to` are counted in hours. Hours before day
 * `days_to` are counted in days and in series. Days before week `weeks_to` are counted in weeks.
 */
export interface UsageStateTable {
  folded_to: number
  /** Epoch seconds. */
  folded_at: number
  days_to: number
  weeks_to: number
  /** The first hour with counted rows; null while there is none. */
  first_slot: number | null
}

/**
 * The number of calls to a model that failed in one hour (hours since 1970) because of this installation or its
 * upstreams.
 */
export interface ServiceFailuresTable {
  model_name: string
  slot: number
  failures: number
}

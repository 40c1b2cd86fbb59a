import type { Generated } from 'kysely'

/**
 * A series: log rows with the same dimensions, whose figures are added up. Columns that its `kind` does not distinguish
 * are 0 or ''. The figures of the series itself are the totals of all days that are summed up.
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
  /** Rows whose call was interrupted for a reason other than the caller disconnecting. */
  failed: number
  /** Milliseconds. */
  elapsed_time: number
  first_byte_time: number
  /** The number of rows with a first byte time. */
  first_byte_count: number
  /** What calls cost the operator, and what was charged for them less that; only calls with a known cost. */
  cost: number
  margin: number
}

/** A day that has hours, as a number of days since 1970 (UTC). */
export interface UsageDatesTable {
  day: number
}

/** A series in one hour, and the ids of its rows (`slot`: hours since 1970; `day`: the day of that hour). */
export interface UsageHoursTable extends UsageFigures {
  day: number
  series_id: number
  slot: number
  /** The number of rows that still exist. Their ids are between the next two values. */
  log_rows: number
  first_id: number
  last_id: number
}

/** A series on one day or in one week (`slot`: days or weeks since 1970, UTC). */
export interface UsageSlotsTable extends UsageFigures {
  series_id: number
  slot: number
}

/**
 * A single row. Log rows up to `folded_to` are counted in hours, hours before day `days_to` are counted in days and in
 * series, and days before week `weeks_to` are counted in weeks.
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

/** Calls for a model that failed in one hour (hours since 1970) because of this service or its upstreams. */
export interface ServiceFailuresTable {
  model_name: string
  slot: number
  failures: number
}

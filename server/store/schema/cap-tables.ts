import type { Generated } from 'kysely'
import type { CapMetric, CapOwner, CapWindow } from '../../../contract/caps.ts'

export type { CapMetric } from '../../../contract/caps.ts'

/**
 * Limits of what an owner may carry. For a cap of a channel, and for a cap that each key of a channel has, `owner_id` is
 * the id of the channel.
 *
 * At every moment, what all windows of a cap counted, and `forgotten`, are what the log rows after `first_log` say,
 * `unlogged`, and what open calls reserve.
 */
export interface CapsTable {
  id: Generated<number>
  owner: CapOwner
  owner_id: number
  metric: CapMetric
  period: CapWindow
  /** Comma-separated names and patterns such as `claude-*`; '' for all models. */
  models: string
  /** The same as a regular expression; null for all models. */
  pattern: string | null
  /** The time zone of the calendar, an IANA name. */
  zone: string
  most: number
  /** Added to `most` until `raise_until` (epoch seconds). */
  raise_by: number
  raise_until: number
  /** The id of the last log row from before the cap. */
  first_log: number
  /** Counted without a log row that says so: failed attempts, deleted rows, and calls while logging is off. */
  unlogged: Generated<number>
  /** Counted in windows that are deleted. */
  forgotten: Generated<number>
}

/** What a cap counted in one window, or in one step of a moving window. */
export interface CapCountsTable {
  cap_id: number
  /** The keyed hash of the key, for caps of keys; otherwise ''. */
  part: string
  /** Start of the window or step in epoch seconds; 0 for calls at once, and for ever. */
  start: number
  used: number
}

/** What an open call reserves in a cap. */
export interface CapPlacesTable {
  hold_id: string
  cap_id: number
  part: string
  start: number
  reserved: number
}

/** A call that waits for a place on a channel, in the order of the tickets. */
export interface CapWaitsTable {
  ticket: number
  channel_id: number
  /** The cap that had no room for the call, and the key that the call needs; '' for any. */
  cap_id: number
  part: string
  node_id: string
  /** When the call's process last said that it waits, in epoch milliseconds. */
  seen_ms: number
}

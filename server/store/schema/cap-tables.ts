import type { Generated } from 'kysely'
import type { CapMetric, CapOwner, CapWindow } from '../../../contract/caps.ts'

export type { CapMetric } from '../../../contract/caps.ts'

/**
 * Caps: limits on the use of a channel, or of each of its keys. In both cases, `owner_id` is the id of the channel.
 *
 * The following is true at every moment for each cap: the counts of all its windows plus `forgotten` equal the sum of
 * the log rows after `first_log`, plus `unlogged`, plus the reservations of open calls.
 */
export interface CapsTable {
  id: Generated<number>
  owner: CapOwner
  owner_id: number
  metric: CapMetric
  period: CapWindow
  /** Comma-separated names and patterns such as `claude-*`; '' for all models. */
  models: string
  /** The names and patterns in `models` as one regular expression; null for all models. */
  pattern: string | null
  /** The time zone of the calendar, an IANA name. */
  zone: string
  most: number
  /** Added to `most` until `raise_until` (epoch seconds). */
  raise_by: number
  raise_until: number
  /** The id of the last log row that is older than the cap. */
  first_log: number
  /**
   * The amount counted without a log row: for failed attempts, for deleted rows, and for calls while logging is off.
   */
  unlogged: Generated<number>
  /** The amount counted in windows that have been deleted. */
  forgotten: Generated<number>
}

/** The count of a cap in one window, or in one step of a moving window. */
export interface CapCountsTable {
  cap_id: number
  /** The keyed hash of the key, for caps of keys; otherwise ''. */
  part: string
  /** The start of the window or step in epoch seconds; 0 for caps of concurrent calls and caps that never end. */
  start: number
  used: number
}

/** The reservation of an open call in a cap. */
export interface CapPlacesTable {
  hold_id: string
  cap_id: number
  part: string
  start: number
  reserved: number
}

/** A call that waits for a place on a channel. Calls wait in the order of their tickets. */
export interface CapWaitsTable {
  ticket: number
  channel_id: number
  /** The cap that had no room for the call, and the key that the call needs; '' for any. */
  cap_id: number
  part: string
  node_id: string
  /** The time at which the call's process last reported that it waits, in epoch milliseconds. */
  seen_ms: number
}

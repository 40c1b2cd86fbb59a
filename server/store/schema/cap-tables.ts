import type { Generated } from 'kysely'
import type { CapMetric, CapOwner, CapWindow } from '../../../contract/caps.ts'

export type { CapMetric } from '../../../contract/caps.ts'

/**
 * Caps: limits on the use of a channel, or of each of its keys. `owner_id` is the id of the channel for both kinds.
 *
 * After every transaction, the following is true for each cap: the sum of its counts plus `forgotten` equals the usage
 * in the log rows after `first_log`, plus `unlogged`, plus the reservations of open calls.
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
  /** The time zone in which days, weeks and months begin, as an IANA name. */
  zone: string
  most: number
  /** Added to `most` until `raise_until` (epoch seconds). */
  raise_by: number
  raise_until: number
  /** The id of the newest log row when the cap was created. The cap counts later rows. */
  first_log: number
  /**
   * The counted amount that has no log row, for example of failed attempts, of deleted rows, and of calls while logging
   * is off.
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
  /**
   * The start of the window or step in epoch seconds; 0 for caps of concurrent calls and for windows that never end.
   */
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
  /** The cap that had no room for the call, and the key (`part`) for which the call waits; '' if it can use any key. */
  cap_id: number
  part: string
  node_id: string
  /** The time at which the call's process last reported that the call is waiting, in epoch milliseconds. */
  seen_ms: number
}

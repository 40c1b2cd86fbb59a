import type { Generated } from 'kysely'
import type { CarryColumns } from './carry-columns.ts'

/** The channels. Each is a configured connection to an upstream. */
export interface ChannelsTable extends CarryColumns {
  id: Generated<number>
  type: number
  /** The upstream credential, encrypted. If there are several keys, each is on its own line. */
  key: string
  status: number
  name: string
  weight: number
  created_time: number
  test_time: number
  response_time: number
  base_url: string
  other: string
  balance: number
  balance_updated_time: number
  models: string
  group: string
  used_quota: number
  model_mapping: string
  priority: number
  /** The text of a JSON object with per-channel settings (time limits, HTTP version, …). */
  config: string
  system_prompt: string
  unlogged_quota: number
  /**
   * The text of a JSON object with the source of the price list that is read on a schedule, and the result of the last
   * check; '' = none.
   */
  price_feed: Generated<string>
  /**
   * Added by Tollgate: the reason why the gateway last changed the channel's status or skipped the channel ('' = it
   * never did), and the time of that in epoch seconds.
   */
  status_reason: Generated<string>
  status_time: Generated<number>
  /**
   * Added by Tollgate: `multi` means that every line of `key` is a key, and that the keys are used in turn. `key_count`
   * is the number of keys.
   */
  key_mode: Generated<'single' | 'multi'>
  key_count: Generated<number>
  /**
   * Added by Tollgate: a bit mask. 1 is set if the channel has caps for itself, and 2 if it has caps for each of its
   * keys.
   */
  capped: Generated<number>
  /** Added by Tollgate: true if the channel is being drained, so that it accepts no new sessions. */
  draining: Generated<boolean>
  /**
   * The time at which the drain began, in epoch seconds; 0 = the channel is not being drained, or all of its sessions
   * have ended.
   */
  drained_at: Generated<number>
}

/** Added by Tollgate: paused keys of a channel, identified by their keyed hashes. */
export interface ChannelDeadKeysTable {
  channel_id: number
  key_hash: string
  reason: string
  since: number
}

/** Added by Tollgate: the results of a channel's last tests. */
export interface ChannelTestsTable {
  id: Generated<number>
  channel_id: number
  created_at: number
  model: string
  ok: boolean
  /** Milliseconds. */
  elapsed_time: number
  message: string
}

/**
 * Added by Tollgate: a session that began while a channel was being drained, and that would have been assigned to that
 * channel without the drain.
 */
export interface DrainSessionsTable {
  channel_id: number
  /** A hash of the token and the session's name. */
  session: number
  created_at: number
}

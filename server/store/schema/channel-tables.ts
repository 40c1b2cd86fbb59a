import type { Generated } from 'kysely'
import type { CarryColumns } from './carry-columns.ts'

/** The upstream channels. */
export interface ChannelsTable extends CarryColumns {
  id: Generated<number>
  type: number
  /** Upstream credential, encrypted. Several keys are stored one per line. */
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
  /** The text of a JSON object with the price list that is read on a schedule, and the last result; '' = none. */
  price_feed: Generated<string>
  /**
   * Ours: why the gateway last changed the status or skipped the channel, and when (epoch seconds); '' = nothing to
   * report.
   */
  status_reason: Generated<string>
  status_time: Generated<number>
  /**
   * Ours: `multi` means that every line of `key` is a key, and that the keys are used in turn. `key_count` is the
   * number of keys.
   */
  key_mode: Generated<'single' | 'multi'>
  key_count: Generated<number>
  /** Ours: 1 is set if the channel has caps, and 2 if each of its keys has. */
  capped: Generated<number>
  /** Ours: the channel takes no new sessions. */
  draining: Generated<boolean>
  /** Since when the channel is drained, in epoch seconds; 0 = it is not, or its sessions have ended. */
  drained_at: Generated<number>
}

/** Ours: keys of a channel that are currently unusable, identified by the keyed hash of the key. */
export interface ChannelDeadKeysTable {
  channel_id: number
  key_hash: string
  reason: string
  since: number
}

/** Ours: results of a channel's last tests. */
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

/** Ours: a session that has begun while the channel to which it would belong is drained. */
export interface DrainSessionsTable {
  channel_id: number
  /** A hash of the token and what names the session. */
  session: number
  created_at: number
}

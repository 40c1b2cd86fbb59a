import type { LogRow } from '../schema/ledger-types.ts'
import type { RowValues } from './inserts-sqlite.ts'

// The rows that the ledger writes on SQLite, as lists of values.

export const logColumns = [
  'user_id',
  'created_at',
  'type',
  'content',
  'username',
  'token_name',
  'model_name',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'channel_id',
  'request_id',
  'elapsed_time',
  'is_stream',
  'system_prompt_reset',
  'token_id',
  'first_byte_time',
  'cached_tokens',
  'reasoning_tokens',
  'estimated',
  'outcome',
  'attempts',
  'asked_model',
] as const

export const holdColumns = [
  'id',
  'user_id',
  'token_id',
  'amount',
  'crash_charge',
  'node_id',
  'created_at',
  'model_name',
  'request_id',
  'token_limited',
  'channel_id',
  'prompt_tokens',
  'completion_tokens',
] as const

/**
 * Adds the values of a log row in the order of `logColumns`. They are listed one by one, because looking them up by
 * column name would cost every call. If no balance covered part of the price, the row says so.
 */
export function addLogRow(rows: RowValues, log: LogRow, price: number, charged: number): void {
  rows.push(
    log.user_id,
    log.created_at,
    log.type,
    charged < price ? `${log.content}; price ${price}, only ${charged} could be charged` : log.content,
    log.username,
    log.token_name,
    log.model_name,
    charged,
    log.prompt_tokens,
    log.completion_tokens,
    log.channel_id,
    log.request_id,
    log.elapsed_time,
    log.is_stream,
    log.system_prompt_reset,
    log.token_id,
    log.first_byte_time,
    log.cached_tokens,
    log.reasoning_tokens,
    log.estimated,
    log.outcome,
    log.attempts,
    log.asked_model ?? '',
  )
}

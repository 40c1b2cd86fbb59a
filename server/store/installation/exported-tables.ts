/** Describes how the rows of a table are exported. */
export interface ExportedTable {
  table: string
  /** The part of an export to which the table belongs. */
  part: string
  /** The columns that identify a row. Rows are exported in their order. */
  key: readonly [string, ...string[]]
  /** True if `key` is a generated number. */
  numbered?: true
  /** Columns that are not exported, because they mean something only in their own installation. */
  left?: readonly string[]
  booleans?: readonly string[]
  /** Columns with secrets, each with the purpose for which it is encrypted; '' = it is not encrypted. */
  secrets?: Readonly<Record<string, string>>
}

/**
 * Every table of an export, in an order in which rows can be added. Sessions, codes, open holds, recordings and the
 * state of running nodes are not exported.
 */
export const exportedTables: readonly ExportedTable[] = [
  {
    ...{ table: 'users', part: 'users', key: ['id'], numbered: true },
    ...{ left: ['access_token_hash'], booleans: ['quota_armed'], secrets: { password: '' } },
  },
  { table: 'statement_optouts', part: 'users', key: ['user_id'] },
  { table: 'options', part: 'options', key: ['key'], booleans: ['sealed'], secrets: { value: 'option' } },
  { table: 'config_marks', part: 'options', key: ['section', 'name'] },
  {
    ...{ table: 'channels', part: 'channels', key: ['id'], numbered: true, booleans: ['draining'] },
    secrets: { key: 'channel', headers: 'channel-headers', proxy_login: 'channel-proxy-login' },
  },
  {
    ...{ table: 'virtual_models', part: 'virtual-models', key: ['id'], numbered: true },
    booleans: ['enabled', 'stream_rescue'],
  },
  { table: 'channel_tests', part: 'channels', key: ['id'], numbered: true, booleans: ['ok'] },
  { table: 'caps', part: 'channels', key: ['id'], numbered: true, left: ['first_log'] },
  {
    ...{ table: 'tokens', part: 'tokens', key: ['id'], numbered: true, left: ['key_hash', 'old_key_hash'] },
    ...{ booleans: ['unlimited_quota'], secrets: { key: 'token', old_key: 'token' } },
  },
  { table: 'redemptions', part: 'redemptions', key: ['id'], numbered: true, secrets: { key: '' } },
  {
    ...{ table: 'alert_destinations', part: 'alerts', key: ['id'], numbered: true, booleans: ['has_secret'] },
    secrets: { address: 'alert-destination' },
  },
  { table: 'alert_rules', part: 'alerts', key: ['id'], numbered: true, booleans: ['enabled', 'send_resolved'] },
  { table: 'audit_events', part: 'audit', key: ['id'], numbered: true },
  {
    ...{ table: 'logs', part: 'logs', key: ['id'], numbered: true },
    booleans: ['is_stream', 'system_prompt_reset', 'estimated', 'kept_place'],
  },
  { table: 'usage_series', part: 'logs', key: ['id'], numbered: true },
  { table: 'usage_dates', part: 'logs', key: ['day'] },
  { table: 'usage_hours', part: 'logs', key: ['day', 'series_id', 'slot'] },
  { table: 'usage_days', part: 'logs', key: ['series_id', 'slot'] },
  { table: 'usage_weeks', part: 'logs', key: ['series_id', 'slot'] },
  { table: 'usage_state', part: 'logs', key: ['folded_to'] },
  { table: 'service_failures', part: 'logs', key: ['model_name', 'slot'] },
]

/** The parts that can be exported separately. */
export const exportedParts: readonly string[] = [...new Set(exportedTables.map(({ part }) => part))]

import { logType } from '../../../contract/log-types.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { splitList } from '../../lib/split-list.ts'
import type { ExportedRow } from '../../store/installation/exported-rows.ts'
import type { ForeignProgram } from './foreign-schemas.ts'

type Value = string | number | boolean | null
export type ForeignRow = Record<string, Value>

/** Columns that Tollgate and the other program have under the same names. */
const shared: Readonly<Record<string, readonly string[]>> = {
  users: [
    ...['id', 'username', 'password', 'display_name', 'role', 'status', 'email', 'github_id', 'wechat_id', 'oidc_id'],
    ...['quota', 'used_quota', 'request_count', 'group', 'aff_code', 'inviter_id'],
  ],
  tokens: [
    ...['id', 'user_id', 'key', 'status', 'name', 'created_time', 'accessed_time', 'expired_time', 'remain_quota'],
    ...['unlimited_quota', 'used_quota'],
  ],
  channels: [
    ...['id', 'type', 'key', 'status', 'name', 'weight', 'created_time', 'test_time', 'response_time', 'base_url'],
    ...['other', 'balance', 'balance_updated_time', 'models', 'group', 'used_quota', 'model_mapping', 'priority'],
  ],
  redemptions: ['id', 'user_id', 'key', 'status', 'name', 'quota', 'created_time', 'redeemed_time'],
  logs: [
    ...['id', 'user_id', 'created_at', 'type', 'content', 'username', 'token_name', 'model_name', 'quota'],
    ...['prompt_tokens', 'completion_tokens', 'channel_id', 'is_stream'],
  ],
}

/**
 * Tollgate's channel types that have a different number in new-api. A type that new-api does not have is written as
 * OpenAI (1).
 */
const newApiTypes: Readonly<Record<number, number>> = {
  ...{ 30: 4, 16: 26, 58: 27, 35: 34, 27: 35, 37: 39, 44: 40, 42: 41, 28: 42, 36: 43, 40: 45, 47: 46, 45: 48, 34: 49 },
  ...{ 46: 56, 50: 1 },
}
/** In Tollgate and new-api, a service with Anthropic's API is an Anthropic channel with a different URL. */
const [claudeCompatible, anthropic] = [52, 14]
const lastOneApiType = 51
const lastNewApiType = 57
/** Numbers of channel types that have a different meaning in new-api. */
const otherInNewApi = new Set([
  ...[2, 4, 5, 26, 27, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57],
])

/** The number of a channel type in the program; undefined if it has no such type. */
export function foreignType(program: ForeignProgram, type: number): number | undefined {
  if (type === claudeCompatible) return anthropic
  if (program === 'one-api') return type >= 1 && type <= lastOneApiType ? type : undefined
  const mapped = newApiTypes[type]
  if (mapped !== undefined) return mapped
  return type >= 1 && type <= lastNewApiType && !otherInNewApi.has(type) ? type : undefined
}

/** The number of a type of log rows in the program; undefined if it has no such rows. */
export function foreignLogType(program: ForeignProgram, type: number): number | undefined {
  if (program === 'one-api') return type === logType.error ? undefined : type
  // New-api has no tests in its log, and uses their number for errors.
  if (type === logType.test) return undefined
  return type === logType.error ? logType.test : type
}

/** Converts a row to the program's form. Keys and secrets must already be plain text. */
export function foreignRow(program: ForeignProgram, table: string, row: ExportedRow): ForeignRow {
  const common = Object.fromEntries((shared[table] ?? []).map((name) => [name, (row[name] ?? null) as Value]))
  const further = program === 'one-api' ? oneApiColumns : newApiColumns
  return { ...common, ...further[table]?.(row) }
}

type Further = Readonly<Record<string, (row: ExportedRow) => ForeignRow>>

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const oneApiColumns: Further = {
  users: (row) => ({ lark_id: text(row['lark_id']) }),
  tokens: (row) => ({ models: text(row['models']), subnet: text(row['subnet']) }),
  channels: (row) => ({ config: text(row['config']), system_prompt: text(row['system_prompt']) }),
  logs: (row) => ({
    request_id: text(row['request_id']),
    elapsed_time: Number(row['elapsed_time'] ?? 0),
    system_prompt_reset: row['system_prompt_reset'] === true,
  }),
}

const newApiColumns: Further = {
  users: () => ({ telegram_id: '', linux_do_id: '', setting: '' }),
  tokens: (row) => ({
    model_limits_enabled: text(row['models']) !== '',
    model_limits: text(row['models']),
    allow_ips: splitList(text(row['subnet'])).join('\n'),
    group: text(row['group']),
  }),
  channels: (row) => ({
    open_ai_organization: text(row['organization']),
    test_model: text(row['test_model']),
    status_code_mapping: statuses(text(row['status_map'])),
    tag: splitList(text(row['tags']))[0] ?? null,
    setting: text(row['proxy']) === '' ? '' : JSON.stringify({ proxy: text(row['proxy']) }),
    param_override: override(text(row['parameters'])),
    auto_ban: 1,
  }),
  redemptions: (row) => ({
    used_user_id: Number(row['redeemed_user_id'] ?? 0),
    expired_time: Number(row['expired_time'] ?? 0),
  }),
  logs: (row) => ({
    use_time: Math.round(Number(row['elapsed_time'] ?? 0) / 1000),
    token_id: Number(row['token_id'] ?? 0),
    other: '',
  }),
}

/** Converts the status map to new-api's form, in which statuses are texts. */
function statuses(stored: string): string {
  const map = tryParse(stored)
  if (!isObject(map)) return ''
  return JSON.stringify(Object.fromEntries(Object.entries(map).map(([from, to]) => [from, String(to)])))
}

/** The parameters that the channel sets in every request. New-api does not support other changes of parameters. */
function override(stored: string): string | null {
  const operations = tryParse(stored)
  if (!Array.isArray(operations)) return null
  const set = operations.filter((each) => isObject(each) && each['op'] === 'set') as { path: string; value: unknown }[]
  return set.length === 0 ? null : JSON.stringify(Object.fromEntries(set.map(({ path, value }) => [path, value])))
}

import { integerOf, textOf, wholeTypes } from './fields.ts'
import type { Findings } from './findings.ts'
import {
  columnType,
  isKey,
  pages,
  type SourceDatabase,
  type SourceRow,
  selectList,
  tableName,
} from './sources/source-database.ts'

/** Tables that are copied, or whose content Tollgate computes itself. All other tables are leftovers. */
const covered: ReadonlySet<string> = new Set([
  ...['users', 'tokens', 'channels', 'abilities', 'redemptions', 'logs', 'options', 'prices', 'user_groups'],
  ...['quota_data', 'statistics', 'statistics_months', 'perf_metrics', 'setups', 'migrations', 'model_owned_by'],
  ...['traces', 'user_request_costs', 'system_instances', 'schema_migrations'],
])

/**
 * Columns that the import reads, or that have no meaning in Tollgate. A column that is not listed was added by a newer
 * version of the source program.
 */
const knownColumns: Readonly<Record<string, ReadonlySet<string>>> = {
  users: new Set(
    `id username password display_name role status email github_id github_id_new wechat_id lark_id oidc_id access_token
     quota used_quota request_count group aff_code inviter_id telegram_id discord_id linux_do_id totp_secret aff_count
     aff_quota aff_history aff_history_quota deleted_at setting remark stripe_customer created_at updated_at created_time
     without_budget rpm_limit tpm_limit concurrency_limit daily_budget monthly_budget avatar_url last_login_time last_login_ip last_login_at uuid inviter_uuid mcp_tool_blacklist metadata verification_code auth_version`.split(
      /\s+/,
    ),
  ),
  tokens: new Set(
    `id user_id key status name created_time accessed_time expired_time remain_quota unlimited_quota used_quota models
     subnet model_limits_enabled model_limits allow_ips group backup_group cross_group_retry deleted_at setting uuid user_uuid
     created_at updated_at rpm_limit tpm_limit concurrency_limit daily_budget monthly_budget`.split(/\s+/),
  ),
  channels: new Set(
    `id type key status name weight created_time test_time response_time base_url other balance balance_updated_time
     models group used_quota model_mapping priority config system_prompt open_ai_organization openai_organization
     test_model testing_model auto_ban other_info tag setting settings param_override header_override
     status_code_mapping remark channel_info model_headers custom_parameter proxy only_chat pre_cost compatible_response
     allow_extra_body disabled_stream plugin deleted_at model_configs model_ratio completion_ratio ratelimit tooling
     inference_profile_arn_map hidden_models uuid created_at updated_at`.split(/\s+/),
  ),
}

/** Reports columns that a newer version of the program added to the copied tables. */
export function reportNewColumns({ tables }: SourceDatabase, findings: Findings): void {
  for (const [table, known] of Object.entries(knownColumns))
    for (const column of tables.get(table) ?? [])
      if (!known.has(column))
        findings.add(
          'version',
          'The source has a column that this version does not know. It is not imported.',
          `${table}.${column}`,
        )
}

/**
 * Writes the rows of tables that have no counterpart in Tollgate to the leftovers file. In a dry run, they are only
 * counted.
 */
export async function leaveExtraTables(source: SourceDatabase, findings: Findings, isDry: boolean): Promise<void> {
  for (const [table, columns] of source.tables) {
    if (covered.has(table)) continue
    const sentence = `The table ${table} has no counterpart.`
    if (isDry || !columns.has('id')) {
      const [row] = await source.query(`select count(*) as n from ${tableName(source, table)}`)
      const count = integerOf(row?.['n'])
      if (count === 0) continue
      if (isDry) {
        findings.add('tables', sentence, `${count} rows`)
        continue
      }
      for (const data of await atOnce(source, table, findings))
        findings.leave({ kind: 'table', id: table, reason: 'no counterpart', data }, sentence)
      continue
    }
    const all = (await isNumbered(source, table)) ? pages(source, table) : once(atOnce(source, table, findings))
    for await (const rows of all)
      for (const data of rows)
        findings.leave(
          { kind: 'table', id: `${table} ${textOf(data['id'])}`, reason: 'no counterpart', data },
          sentence,
        )
  }
}

/** The maximum number of rows of a table that are read at once. */
const mostAtOnce = 100_000

/** True if each row of a table has an id of its own that is a whole number, so that the table can be read in pages. */
async function isNumbered(source: SourceDatabase, table: string): Promise<boolean> {
  const type = columnType(source, table, 'id')
  const isSqlite = source.dialect === 'sqlite'
  if (type === '' || !isKey(source, table, 'id') || !(isSqlite || wholeTypes.test(type))) return false
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
  // SQLite's columns may contain values of any type, and unique columns may contain NULL.
  const isOther = isSqlite ? `typeof("id") <> 'integer' or "id" > ${most} or ` : ''
  const others = await source.query(
    `select 1 as other from ${tableName(source, table)} where ${isOther}"id" is null or "id" <= ${least} limit 1`,
  )
  return others.length === 0
}

async function* once(rows: Promise<SourceRow[]>): AsyncGenerator<SourceRow[]> {
  yield await rows
}

async function atOnce(source: SourceDatabase, table: string, findings: Findings): Promise<SourceRow[]> {
  const rows = await source.query(
    `select ${selectList(source, table)} from ${tableName(source, table)} limit ${mostAtOnce + 1}`,
  )
  if (rows.length > mostAtOnce)
    findings.add('tables', `Only ${mostAtOnce} rows of the table are kept, because it has no numeric key.`, table)
  return rows.slice(0, mostAtOnce)
}

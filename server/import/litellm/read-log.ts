import { logType } from '../../../contract/log-types.ts'
import { integer, integerOf, text } from '../fields.ts'
import type { LocalDatabase, LocalRow } from '../sources/local-sqlite.ts'
import type { SourceDatabase, SourceRow } from '../sources/source-database.ts'
import { numberOf } from './ids.ts'
import { quotaOf } from './money.ts'
import type { Reading } from './reading.ts'

const rowsPerStep = 2000
/** 2020-01-01, which is before the first row of any LiteLLM log. Row ids count milliseconds from here. */
const firstMs = Date.UTC(2020, 0, 1)
/** The number of ids for rows that were written in the same millisecond. */
const perMs = 8192
const longestCallMs = 86_400_000

/** The accounts and names to which the rows refer. */
export interface LogNames {
  /** The account of each key, by the hash of the key. */
  owners: ReadonlyMap<string, number>
  users: ReadonlyMap<number, string>
  tokens: ReadonlyMap<number, string>
}

/**
 * Copies the log in steps. The id of a row is derived from the time at which it was written, so that later rows have
 * larger ids.
 */
export async function readLog(
  source: SourceDatabase,
  local: LocalDatabase,
  { quotaPerUnit }: Reading,
  names: LogNames,
): Promise<void> {
  const columns = source.tables.get('LiteLLM_SpendLogs')
  if (!columns) return
  const ms = (name: string) => `cast(extract(epoch from "${name}") * 1000 as bigint)`
  const written = columns.has('created_at') ? 'created_at' : 'endTime'
  const optional = (name: string) => (columns.has(name) ? `"${name}"` : `null as "${name}"`)
  await source.query('begin')
  await source.query(
    `declare tollgate_log cursor for select request_id, api_key, spend, prompt_tokens, completion_tokens, model, "user",
      ${optional('model_id')}, ${optional('model_group')}, ${optional('status')}, ${optional('request_duration_ms')},
      ${optional('team_id')}, ${ms('startTime')} as began, ${ms('endTime')} as ended, ${ms(written)} as written
      from "LiteLLM_SpendLogs" order by ${written === 'endTime' ? '"endTime"' : written}, request_id`,
  )
  let lastMs = -1
  let rank = 0
  for (;;) {
    const rows = await source.query(`fetch ${rowsPerStep} from tollgate_log`)
    local.insert(
      'logs',
      rows.map((row) => {
        const at = Math.max(0, integer(row, 'written') - firstMs)
        rank = at === lastMs ? rank + 1 : 0
        lastMs = at
        return logRow(row, at * perMs + rank, names, quotaPerUnit)
      }),
    )
    if (rows.length < rowsPerStep) break
  }
  await source.query('commit')
  const used = 'select coalesce(sum(quota), 0) from logs where type = 2 and channel_id = channels.id'
  local.run('create index spool.by_channel on logs (channel_id, type, quota)')
  local.run(`update channels set used_quota = (${used})`)
  local.run('create index spool.by_user on logs (user_id)')
  local.run('update users set request_count = (select count(*) from logs where type = 2 and user_id = users.id)')
}

function logRow(row: SourceRow, id: number, { owners, users, tokens }: LogNames, quotaPerUnit: number): LocalRow {
  const hash = text(row, 'api_key')
  const token = numberOf('token', hash)
  const named = text(row, 'user') === '' ? undefined : numberOf('user', text(row, 'user'))
  const user = named !== undefined && users.has(named) ? named : (owners.get(hash) ?? 0)
  const quota = quotaOf(row['spend'], quotaPerUnit)
  const isFailed = text(row, 'status') === 'failure' && quota === 0
  const elapsed = integer(row, 'request_duration_ms') || integer(row, 'ended') - integer(row, 'began')
  return {
    id,
    user_id: user,
    created_at: Math.floor(integerOf(row['began']) / 1000),
    type: isFailed ? logType.error : logType.consume,
    content: '',
    username: users.get(user) ?? '',
    token_name: tokens.get(token) ?? '',
    model_name: text(row, 'model_group') || text(row, 'model'),
    quota,
    prompt_tokens: integer(row, 'prompt_tokens'),
    completion_tokens: integer(row, 'completion_tokens'),
    channel_id: text(row, 'model_id') === '' ? 0 : numberOf('channel', text(row, 'model_id')),
    request_id: text(row, 'request_id'),
    elapsed_time: elapsed > 0 && elapsed < longestCallMs ? elapsed : 0,
    token_id: tokens.has(token) ? token : 0,
  }
}

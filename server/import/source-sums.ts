import type { ImportedSums } from '../store/imports/journal.ts'
import { noSums } from './copy/work.ts'
import { countedSql, integerOf, mostQuota, textOf } from './fields.ts'
import { ImportFailed } from './import-failed.ts'
import type { Program } from './program.ts'
import { chargeTypes } from './rows/log-row.ts'
import type { SourceDatabase } from './sources/source-database.ts'

/**
 * The counts and totals of a source, computed by its database. Deleted rows are excluded, except deleted users, because
 * their rows are imported.
 */
export async function sourceSums(source: SourceDatabase): Promise<ImportedSums> {
  const sums = noSums()
  const living = (table: string) => (source.tables.get(table)?.has('deleted_at') ? 'where "deleted_at" is null' : '')
  const sum = (name: string) => `sum(${countedSql(source.dialect, name)})`
  const requests = source.tables.get('users')?.has('request_count') ? sum('request_count') : '0'
  const [users] = await source.query(
    `select count(*) as n, ${sum('quota')} as quota, ${sum('used_quota')} as used, ${requests} as requests from "users"`,
  )
  const [tokens] = await source.query(
    `select count(*) as n, ${sum('remain_quota')} as quota, ${sum('used_quota')} as used from "tokens" ${living('tokens')}`,
  )
  const [channels] = await source.query(
    `select count(*) as n, ${sum('used_quota')} as used from "channels" ${living('channels')}`,
  )
  Object.assign(sums, {
    users: integerOf(users?.['n']),
    userQuota: integerOf(users?.['quota']),
    userUsed: integerOf(users?.['used']),
    requests: integerOf(users?.['requests']),
    tokens: integerOf(tokens?.['n']),
    tokenQuota: integerOf(tokens?.['quota']),
    tokenUsed: integerOf(tokens?.['used']),
    channels: integerOf(channels?.['n']),
    channelUsed: integerOf(channels?.['used']),
  })
  if (source.tables.has('redemptions'))
    for (const row of await source.query(
      `select "status" as status, count(*) as n from "redemptions" ${living('redemptions')} group by "status"`,
    )) {
      const name = (['', 'codesUnused', 'codesDisabled', 'codesUsed'] as const)[integerOf(row['status'], 1)]
      if (name) sums[name] += integerOf(row['n'])
    }
  return sums
}

/** Counts and totals of a part of a source's log. */
export interface LogSums {
  lastId: number
  rows: number
  charges: number
  quota: number
  /** The largest ids that occur in its rows. */
  users: number
  tokens: number
  channels: number
}

/** Computes the counts and totals of the log rows after an id and, if `upTo` is given, up to that id. */
export async function logSums(
  source: SourceDatabase,
  program: Program,
  { after, upTo }: { after: number; upTo?: number },
): Promise<LogSums> {
  const columns = source.tables.get('logs')
  if (!columns) return { lastId: after, rows: 0, charges: 0, quota: 0, users: 0, tokens: 0, channels: 0 }
  const most = (name: string) => (columns.has(name) ? `max(${countedSql(source.dialect, name)})` : '0')
  const end = upTo === undefined ? '' : `and "id" <= ${Math.trunc(upTo)}`
  const where = after === 0 && upTo === undefined ? '' : `where "id" > ${Math.trunc(after)} ${end}`
  const isCharge = `"type" in (${chargeTypes(program).join(', ')})`
  const [row] = await source.query(
    `select max("id") as last, count(*) as n, ${most('user_id')} as users, ${most('token_id')} as tokens,
      ${most('channel_id')} as channels,
      sum(case when ${isCharge} then 1 else 0 end) as charges,
      sum(case when ${isCharge} then ${countedSql(source.dialect, 'quota', mostQuota)} else 0 end) as quota
      from "logs" ${where}`,
  )
  const of = (name: string) => integerOf(row?.[name])
  return {
    lastId: Math.max(after, of('last')),
    rows: of('n'),
    charges: of('charges'),
    quota: of('quota'),
    users: of('users'),
    tokens: of('tokens'),
    channels: of('channels'),
  }
}

/** A charge that has been held for longer than this will never be settled. */
const openSeconds = 3600
const laiskyOpen = 6

/**
 * Finds log rows with ids above `after` whose charge is held but not yet settled, which only Laisky's one-api has. It
 * changes such a row when it settles the charge. Returns the lowest id and the number of these rows; undefined if there
 * are none.
 */
export async function firstOpenCharge(
  source: SourceDatabase,
  { name }: Program,
  { after, now }: { after: number; now: number },
): Promise<{ id: number; count: number } | undefined> {
  if (name !== 'laisky' || !source.tables.has('logs')) return undefined
  const [row] = await source.query(
    `select min("id") as first, count(*) as n from "logs"
      where "id" > ${Math.trunc(after)} and "type" = ${laiskyOpen} and "created_at" > ${Math.trunc(now) - openSeconds}`,
  )
  const count = integerOf(row?.['n'])
  return count === 0 ? undefined : { id: integerOf(row?.['first']), count }
}

/** Throws ImportFailed if a row has an id that is too large to be represented exactly. */
export async function refuseLargeIds({ tables, query }: SourceDatabase): Promise<void> {
  for (const table of ['users', 'tokens', 'channels', 'redemptions', 'logs'] as const) {
    if (!tables.get(table)?.has('id')) continue
    const [row] = await query(
      `select cast("id" as char(30)) as id from "${table}" where "id" > ${Number.MAX_SAFE_INTEGER} or "id" < ${Number.MIN_SAFE_INTEGER} limit 1`,
    )
    if (row)
      throw new ImportFailed(
        `The table ${table} has a row with the id ${textOf(row['id']).trim()}, which is too large. Correct or delete this row in the source, and import again.`,
      )
  }
}

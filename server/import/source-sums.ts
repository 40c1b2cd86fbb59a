import type { ImportedSums } from '../store/imports/journal.ts'
import { noSums } from './copy/work.ts'
import { countedSql, integerOf, mostQuota } from './fields.ts'
import type { Program } from './program.ts'
import { chargeTypes } from './rows/log-row.ts'
import { type SourceDatabase, tableName } from './sources/source-database.ts'

/**
 * The counts and totals of a source, computed by its database. Deleted rows are excluded, except deleted users, because
 * their rows are imported.
 */
export async function sourceSums(source: SourceDatabase): Promise<ImportedSums> {
  const sums = noSums()
  const living = (table: string) => (source.tables.get(table)?.has('deleted_at') ? 'where "deleted_at" is null' : '')
  const sum = (table: string, name: string) => `sum(${countedSql(source, table, name)})`
  const [users] = await source.query(
    `select count(*) as n, ${sum('users', 'quota')} as quota, ${sum('users', 'used_quota')} as used,
      ${sum('users', 'request_count')} as requests from ${tableName(source, 'users')}`,
  )
  const [tokens] = await source.query(
    `select count(*) as n, ${sum('tokens', 'remain_quota')} as quota, ${sum('tokens', 'used_quota')} as used
      from ${tableName(source, 'tokens')} ${living('tokens')}`,
  )
  const [channels] = await source.query(
    `select count(*) as n, ${sum('channels', 'used_quota')} as used from ${tableName(source, 'channels')} ${living('channels')}`,
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
      `select "status" as status, count(*) as n from ${tableName(source, 'redemptions')} ${living('redemptions')} group by "status"`,
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
  const most = (name: string) => `max(${countedSql(source, 'logs', name)})`
  const end = upTo === undefined ? '' : `and "id" <= ${Math.trunc(upTo)}`
  const where = after === 0 && upTo === undefined ? '' : `where "id" > ${Math.trunc(after)} ${end}`
  const isCharge = `${countedSql(source, 'logs', 'type')} in (${chargeTypes(program).join(', ')})`
  const [row] = await source.query(
    `select max("id") as last, count(*) as n, ${most('user_id')} as users, ${most('token_id')} as tokens,
      ${most('channel_id')} as channels,
      sum(case when ${isCharge} then 1 else 0 end) as charges,
      sum(case when ${isCharge} then ${countedSql(source, 'logs', 'quota', mostQuota)} else 0 end) as quota
      from ${tableName(source, 'logs')} ${where}`,
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
    `select min("id") as first, count(*) as n from ${tableName(source, 'logs')}
      where "id" > ${Math.trunc(after)} and "type" = ${laiskyOpen} and "created_at" > ${Math.trunc(now) - openSeconds}`,
  )
  const count = integerOf(row?.['n'])
  return count === 0 ? undefined : { id: integerOf(row?.['first']), count }
}

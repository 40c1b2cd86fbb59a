import type { Store } from '../../server/store/store.ts'

type Row = Record<string, unknown> & { id: number }

/** The rows at one moment, by table and id. */
export interface Snapshot {
  users: Map<number, Row>
  tokens: Map<number, Row>
  channels: Map<number, Row>
  redemptions: Map<number, Row>
  options: Map<string, string>
}

/** Reads the rows that a fuzz run must not change. */
export async function takeSnapshot(store: Store): Promise<Snapshot> {
  const rows = async (table: 'users' | 'tokens' | 'channels' | 'redemptions') => {
    const found = (await store.read.selectFrom(table).selectAll().execute()) as unknown as Row[]
    return new Map(found.map((row) => [row.id, row]))
  }
  const options = await store.read.selectFrom('options').selectAll().execute()
  return {
    users: await rows('users'),
    tokens: await rows('tokens'),
    channels: await rows('channels'),
    redemptions: await rows('redemptions'),
    options: new Map(options.map(({ key, value }) => [key, value])),
  }
}

const figures = {
  users: ['quota', 'used_quota', 'request_count', 'granted_quota', 'unlogged_quota'],
  tokens: ['remain_quota', 'used_quota', 'granted_quota', 'unlogged_quota'],
} as const

/** Accounts and tokens of the snapshot `before` whose balances have changed, as text. Deleted rows are not included. */
export function movedBalances(before: Snapshot, after: Snapshot): string[] {
  return (['users', 'tokens'] as const).flatMap((table) =>
    [...before[table]].flatMap(([id, row]) => {
      const now = after[table].get(id)
      if (!now) return []
      return figures[table]
        .filter((name) => now[name] !== row[name])
        .map((name) => `${table} ${id}: ${name} was ${row[name]}, is ${now[name]}`)
    }),
  )
}

/** Columns that the gateway itself changes over time. */
const noted = new Set(['quota_armed'])

/**
 * Rows of the snapshot `before` that are now gone or changed, except those for which `mayChange` returns true, as text.
 */
export function harmed(
  before: Snapshot,
  after: Snapshot,
  table: 'users' | 'tokens' | 'channels' | 'redemptions',
  mayChange: (row: Row) => boolean,
): string[] {
  return [...before[table].values()].flatMap((row) => {
    if (mayChange(row)) return []
    const now = after[table].get(row.id)
    if (!now) return [`${table} ${row.id} is gone`]
    return Object.keys(row)
      .filter((name) => !noted.has(name) && now[name] !== row[name])
      .map((name) => `${table} ${row.id}: ${name} was ${String(row[name])}, is ${String(now[name])}`)
  })
}

import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Store, Trx } from './store.ts'
import type { HoldsTable } from './tables.ts'

const holdColumns = [
  'id',
  'user_id',
  'token_id',
  'amount',
  'crash_charge',
  'node_id',
  'model_name',
  'request_id',
] as const

/** A hold whose process may be gone, with the names its log row needs. */
export interface OpenHold extends Pick<Selectable<HoldsTable>, (typeof holdColumns)[number]> {
  username: string | null
  token_name: string | null
}

export interface NodeRow {
  id: string
  host: string
  pid: number
  /** Since its last heartbeat. */
  silentSeconds: number
}

/** The database's own time in epoch seconds: clocks of nodes differ, and a node must not look dead because of that. */
function databaseNow({ dialect }: Pick<Store, 'dialect'>): RawBuilder<number> {
  return dialect === 'postgres' ? sql<number>`extract(epoch from now())::bigint` : sql<number>`unixepoch()`
}

/**
 * Announces a process, or says that it is alive. The row is made anew if it is gone: others take away a node that was
 * silent for long (a paused machine), and would close its calls if it came back without one.
 */
export function beat(store: Store, node: { id: string; host: string; pid: number }): Promise<void> {
  const now = databaseNow(store)
  return store.writeSoon((db) =>
    db
      .insertInto('nodes')
      .values({ ...node, started_at: now, heartbeat_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now })),
  )
}

export async function removeNodes(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await trx
      .deleteFrom('nodes')
      .where('id', 'in', [...ids])
      .execute()
}

export function allNodes(store: Store): Promise<NodeRow[]> {
  return store.read
    .selectFrom('nodes')
    .select(['id', 'host', 'pid', sql<number>`${databaseNow(store)} - heartbeat_at`.as('silentSeconds')])
    .execute()
}

function holdRows(db: Db) {
  return db
    .selectFrom('holds')
    .leftJoin('users', 'users.id', 'holds.user_id')
    .leftJoin('tokens', 'tokens.id', 'holds.token_id')
    .select(holdColumns.map((name) => `holds.${name}` as const))
    .select(['users.username', 'tokens.name as token_name'])
}

/** All holds under the name of one process. */
export async function holdIdsOf(db: Db, nodeId: string): Promise<string[]> {
  const rows = await db.selectFrom('holds').select('id').where('node_id', '=', nodeId).execute()
  return rows.map(({ id }) => id)
}

export function holdsWithIds(db: Db, ids: readonly string[]): Promise<OpenHold[]> {
  return holdRows(db)
    .where('holds.id', 'in', [...ids])
    .execute()
}

/**
 * Holds of processes that are dead or unknown, oldest first. A process announces itself before its first hold, so one
 * statement cannot see the hold of a new process without the process.
 */
export function abandonedHolds(db: Db, own: string, dead: readonly string[], limit: number): Promise<OpenHold[]> {
  return holdRows(db)
    .where('holds.node_id', '<>', own)
    .where((eb) =>
      eb.or([
        eb('holds.node_id', 'in', dead.length > 0 ? [...dead] : ['']),
        eb('holds.node_id', 'not in', eb.selectFrom('nodes').select('nodes.id')),
      ]),
    )
    .orderBy('holds.created_at')
    .limit(limit)
    .execute()
}

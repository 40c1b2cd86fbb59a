import { type ExpressionBuilder, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { LeaseOfAccount } from '../schema/ledger-types.ts'
import type { HoldsTable, Tables } from '../schema/tables.ts'
import type { Db, Store, Trx } from '../store.ts'

const holdColumns = [
  'id',
  'user_id',
  'token_id',
  'amount',
  'crash_charge',
  'channel_id',
  'prompt_tokens',
  'completion_tokens',
  'node_id',
  'model_name',
  'request_id',
] as const

/** The owner of holds that belong to background jobs instead of a process. */
export const backgroundNode = 'background'

/** A hold whose process may be gone, and the names that its log row needs. */
export interface OpenHold extends Pick<Selectable<HoldsTable>, (typeof holdColumns)[number]> {
  username: string | null
  token_name: string | null
}

export interface NodeRow {
  id: string
  host: string
  pid: number
  /** Seconds since the node's last heartbeat. */
  silentSeconds: number
}

/** Nodes that are dead, or may be dead. */
export interface DeadNodes {
  /** Nodes whose processes have ended. */
  gone: readonly string[]
  /**
   * Nodes that count as dead if, when the statement runs, they have been silent for `afterSeconds`. A node whose
   * heartbeat has returned by then is alive.
   */
  ifSilent: readonly string[]
  afterSeconds: number
}

/**
 * The database's time in epoch seconds. It is used because the clocks of nodes differ, and a node with a wrong clock
 * must not count as dead.
 */
function databaseNow({ dialect }: Pick<Store, 'dialect'>): RawBuilder<number> {
  return dialect === 'postgres' ? sql<number>`extract(epoch from now())::bigint` : sql<number>`unixepoch()`
}

/**
 * Registers a process, or records that it is alive. If other nodes have removed the row because the process was silent
 * for long (for example on a paused machine), the row is created again. Without a row, other nodes would close the
 * process's calls.
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

export async function removeNode(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('nodes').where('id', '=', id).execute()
}

/** Removes dead nodes from the list, except those whose heartbeat has returned in the meantime. */
export async function removeDeadNodes(store: Store, dead: DeadNodes): Promise<void> {
  if (dead.gone.length + dead.ifSilent.length === 0) return
  await store.write((trx) =>
    trx
      .deleteFrom('nodes')
      .where((eb) => eb.or([eb('id', 'in', listOf(dead.gone)), isSilent(store, eb, dead)]))
      .execute(),
  )
}

export function allNodes(store: Store): Promise<NodeRow[]> {
  return nodeRows(store).execute()
}

function nodeRows(store: Store) {
  return store.read
    .selectFrom('nodes')
    .select(['id', 'host', 'pid', sql<number>`${databaseNow(store)} - heartbeat_at`.as('silentSeconds')])
}

/** All nodes. `othersHold` is true if any process except `own` has open holds or leases. */
export async function nodesAndHolds(store: Store, own: string): Promise<(NodeRow & { othersHold: boolean })[]> {
  const rows = await nodeRows(store)
    .select(({ exists, selectFrom }) =>
      sql<boolean>`${exists(selectFrom('holds').select('holds.id').where('holds.node_id', '<>', own))}
        or ${exists(selectFrom('leases').select('leases.id').where('leases.node_id', '<>', own))}`.as('othersHold'),
    )
    .execute()
  return rows.map((row) => ({ ...row, othersHold: Boolean(row.othersHold) }))
}

/** A list that is never empty, because SQL cannot express an empty list. */
function listOf(ids: readonly string[]): string[] {
  return ids.length > 0 ? [...ids] : ['']
}

function isSilent(store: Store, eb: ExpressionBuilder<Tables, 'nodes'>, { ifSilent, afterSeconds }: DeadNodes) {
  const longAgo = sql<number>`${databaseNow(store)} - ${afterSeconds}`
  return eb.and([eb('nodes.id', 'in', listOf(ifSilent)), eb('nodes.heartbeat_at', '<=', longAgo)])
}

function holdRows(db: Db) {
  return db
    .selectFrom('holds')
    .leftJoin('users', 'users.id', 'holds.user_id')
    .leftJoin('tokens', 'tokens.id', 'holds.token_id')
    .select(holdColumns.map((name) => `holds.${name}` as const))
    .select(['users.username', 'tokens.name as token_name'])
}

/** The ids of all holds that belong to one process. */
export async function holdIdsOf(db: Db, nodeId: string): Promise<string[]> {
  const rows = await db.selectFrom('holds').select('id').where('node_id', '=', nodeId).execute()
  return rows.map(({ id }) => id)
}

/** The processes that have open holds or leases. */
export async function holdNodeIds(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('holds')
    .select('node_id')
    .where('node_id', '<>', backgroundNode)
    .union(db.selectFrom('leases').select('node_id'))
    .execute()
  return rows.map(({ node_id }) => node_id)
}

/** Returns the given holds that still belong to a process. */
export function holdsWithIds(db: Db, nodeId: string, ids: readonly string[]): Promise<OpenHold[]> {
  return holdRows(db)
    .where('holds.id', 'in', [...ids])
    .where('holds.node_id', '=', nodeId)
    .execute()
}

/** A hold that belongs to a background job; undefined if it is closed. */
export function backgroundHold(db: Db, id: string): Promise<OpenHold | undefined> {
  return holdRows(db).where('holds.id', '=', id).where('holds.node_id', '=', backgroundNode).executeTakeFirst()
}

/**
 * Holds of processes that are dead or unknown, oldest first. A process registers before its first hold, so a statement
 * that sees a hold of a new process also sees the process. A process whose row other nodes have removed registers again
 * soon. The holds that it makes in the meantime are too recent to count as abandoned.
 */
export function abandonedHolds(store: Store, own: string, dead: DeadNodes, limit: number): Promise<OpenHold[]> {
  return holdRows(store.read)
    .where('holds.node_id', 'not in', [own, backgroundNode])
    .where(isAbandoned(store, 'holds', dead))
    .orderBy('holds.created_at')
    .limit(limit)
    .execute()
}

/** The leases of processes that are dead or unknown. */
export async function abandonedLeases(store: Store, own: string, dead: DeadNodes): Promise<LeaseOfAccount[]> {
  const rows = await store.read
    .selectFrom('leases')
    .select(['id', 'user_id', 'token_id'])
    .where('node_id', '<>', own)
    .where(isAbandoned(store, 'leases', dead))
    .execute()
  return rows.map(leaseOf)
}

/** The leases that belong to one process. */
export async function leasesOf(db: Db, nodeId: string): Promise<LeaseOfAccount[]> {
  const rows = await db
    .selectFrom('leases')
    .select(['id', 'user_id', 'token_id'])
    .where('node_id', '=', nodeId)
    .execute()
  return rows.map(leaseOf)
}

function leaseOf({ id, user_id, token_id }: { id: string; user_id: number; token_id: number }): LeaseOfAccount {
  return { id, userId: Number(user_id), tokenId: Number(token_id) }
}

/** True if a row belongs to a process that is dead or unknown. */
function isAbandoned(store: Store, table: 'holds' | 'leases', { gone, ...dead }: DeadNodes): RawBuilder<SqlBool> {
  const node = sql.ref(`${table}.node_id`)
  const age = sql.ref(`${table}.created_at`)
  const now = databaseNow(store)
  return sql<SqlBool>`(${node} in (${sql.join(listOf(gone))})
    or ${node} in (select n.id from nodes n where n.id in (${sql.join(listOf(dead.ifSilent))})
      and n.heartbeat_at <= ${now} - ${dead.afterSeconds})
    or (${node} not in (select n.id from nodes n) and ${age} <= ${now} - ${dead.afterSeconds}))`
}

import type { Db, Trx } from './store.ts'

/** A hold whose process may be gone, with the names its log row needs. */
export interface OpenHold {
  id: string
  user_id: number
  token_id: number
  amount: number
  crash_charge: number
  node_id: string
  model_name: string
  request_id: string
  username: string | null
  token_name: string | null
}

export interface NodeRow {
  id: string
  host: string
  pid: number
  heartbeat_at: number
}

/** Announces a process. Times are epoch seconds. */
export async function addNode(trx: Trx, node: { id: string; host: string; pid: number; now: number }): Promise<void> {
  await trx
    .insertInto('nodes')
    .values({ id: node.id, host: node.host, pid: node.pid, started_at: node.now, heartbeat_at: node.now })
    .execute()
}

export async function beat(trx: Trx, id: string, now: number): Promise<void> {
  await trx.updateTable('nodes').set({ heartbeat_at: now }).where('id', '=', id).execute()
}

export async function removeNodes(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await trx
      .deleteFrom('nodes')
      .where('id', 'in', [...ids])
      .execute()
}

export function allNodes(db: Db): Promise<NodeRow[]> {
  return db.selectFrom('nodes').select(['id', 'host', 'pid', 'heartbeat_at']).execute()
}

/** Holds that belong to none of the given processes, oldest first. */
export function holdsOfOthers(db: Db, alive: readonly string[], limit: number): Promise<OpenHold[]> {
  return db
    .selectFrom('holds')
    .leftJoin('users', 'users.id', 'holds.user_id')
    .leftJoin('tokens', 'tokens.id', 'holds.token_id')
    .select([
      'holds.id',
      'holds.user_id',
      'holds.token_id',
      'holds.amount',
      'holds.crash_charge',
      'holds.node_id',
      'holds.model_name',
      'holds.request_id',
      'users.username',
      'tokens.name as token_name',
    ])
    .where('holds.node_id', 'not in', [...alive])
    .orderBy('holds.created_at')
    .limit(limit)
    .execute()
}

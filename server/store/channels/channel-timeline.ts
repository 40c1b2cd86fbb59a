import { sql } from 'kysely'
import type { Db } from '../store.ts'

/** The audit log has no index by target, so only its newest entries are read. */
const mostRead = 20_000

/** An entry of the audit log about a channel. */
export interface ChannelAct {
  created_at: number
  actor_name: string
  action: string
  detail: string
}

/** The latest automatic actions and changes that concern a channel, newest first. */
export async function channelActs(db: Db, id: number, limit: number): Promise<ChannelAct[]> {
  const { rows } = await sql<ChannelAct>`
    select created_at, actor_name, action, detail
    from (select * from audit_events order by id desc limit ${sql.lit(mostRead)}) newest
    where target = ${`channel ${id}`} order by id desc limit ${limit}`.execute(db)
  return rows
}

import { type RawBuilder, sql } from 'kysely'
import { logType } from '../../contract/log-types.ts'
import type { Store, Trx } from './store.ts'

export interface BalanceFault {
  kind: 'user' | 'token' | 'channel'
  id: number
  text: string
}

export interface BalanceReport {
  faults: BalanceFault[]
  checked: { users: number; tokens: number; channels: number }
  openHolds: number
}

interface Figures {
  id: number
  used: number
  unlogged: number
  logged: number
  left: number
  held: number
  granted: number
}

/**
 * Checks every account in one transaction: used = logged + unlogged, and for users and tokens
 * granted = left + held + used. Works on a live database.
 */
export async function balanceFaults(store: Store): Promise<BalanceReport> {
  return store.write(async (trx) => {
    // One snapshot for all the sums; on SQLite the writing transaction is one already.
    if (store.dialect === 'postgres') await sql`set transaction isolation level repeatable read`.execute(trx)
    const users = await figures(trx, sql`users`, sql`user_id`, {
      left: sql`quota`,
      granted: sql`granted_quota`,
      held: sql`true`,
    })
    const tokens = await figures(trx, sql`tokens`, sql`token_id`, {
      left: sql`remain_quota`,
      granted: sql`granted_quota`,
      held: sql`token_limited`,
    })
    const channels = await figures(trx, sql`channels`, sql`channel_id`, undefined)
    const open = await trx
      .selectFrom('holds')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return {
      faults: [...faultsOf('user', users), ...faultsOf('token', tokens), ...faultsOf('channel', channels)],
      checked: { users: users.length, tokens: tokens.length, channels: channels.length },
      openHolds: Number(open.count),
    }
  })
}

async function figures(
  trx: Trx,
  table: RawBuilder<unknown>,
  owner: RawBuilder<unknown>,
  balance: { left: RawBuilder<unknown>; granted: RawBuilder<unknown>; held: RawBuilder<unknown> } | undefined,
): Promise<Figures[]> {
  const held = balance
    ? sql`(select coalesce(sum(amount), 0) from holds where holds.${owner} = a.id and ${balance.held})`
    : sql`0`
  const rows = await sql<Figures>`
    select a.id, a.used_quota as used, a.unlogged_quota as unlogged,
      (select coalesce(sum(quota), 0) from logs where logs.${owner} = a.id and logs.type = ${logType.consume}) as logged,
      ${balance?.left ?? sql`0`} as "left", ${balance?.granted ?? sql`a.used_quota`} as granted, ${held} as held
    from ${table} a`.execute(trx)
  return rows.rows.map((row) => ({ ...row, logged: Number(row.logged), held: Number(row.held) }))
}

function faultsOf(kind: BalanceFault['kind'], rows: readonly Figures[]): BalanceFault[] {
  const faults: BalanceFault[] = []
  for (const row of rows) {
    if (row.used !== row.logged + row.unlogged) {
      faults.push({
        kind,
        id: row.id,
        text: `used ${row.used}, but the log rows sum to ${row.logged} and ${row.unlogged} are not in the log`,
      })
    }
    if (row.granted !== row.left + row.held + row.used) {
      faults.push({
        kind,
        id: row.id,
        text: `granted ${row.granted}, but left ${row.left} + held ${row.held} + used ${row.used} = ${row.left + row.held + row.used}`,
      })
    }
    if (row.left < 0) faults.push({ kind, id: row.id, text: `the balance is below zero: ${row.left}` })
  }
  return faults
}

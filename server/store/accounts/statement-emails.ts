import { sql } from 'kysely'
import { userStatus } from '../../../contract/statuses.ts'
import type { Db, Trx } from '../store.ts'
import { usageRows } from '../usage/usage-rows.ts'
import { hourSeconds, kindFor } from '../usage/usage-series.ts'

/** A user whose statement has not been sent yet. */
export interface StatementReader {
  id: number
  username: string
  email: string
}

/** A postponed email is tried again after this time. */
const retrySeconds = 1800

/**
 * The users to whom the statement of a month has not been sent yet. They are enabled, have an email address and
 * requests in the month, and have not opted out. `from` and `to` are the start and end of the month in epoch seconds,
 * and must be whole hours.
 */
export async function statementReaders(
  db: Db,
  ask: { month: string; from: number; to: number; now: number; limit: number },
): Promise<StatementReader[]> {
  const range = { from: ask.from / hourSeconds, to: ask.to / hourSeconds }
  const rows = usageRows({
    kind: kindFor({}, ['user_id']),
    filter: {},
    range,
    group: 'user_id',
    figures: ['requests'],
    callsOnly: true,
  })
  const { rows: readers } = await sql<StatementReader>`
    with active as materialized (select g as id from (${rows}) hours group by g having sum(requests) > 0)
    select u.id, u.username, u.email from users u join active on active.id = u.id
    where u.status = ${userStatus.enabled} and u.email <> ''
      and not exists (select 1 from statement_optouts o where o.user_id = u.id)
      and not exists (
        select 1 from statement_emails s where s.month = ${ask.month} and s.user_id = u.id
          and (s.state <> 'waiting' or s.updated_at > ${ask.now - retrySeconds})
      )
    order by u.id limit ${ask.limit}`.execute(db)
  return readers
}

/** Reserves an email for this node. False if another node has reserved it, or if it was already sent. */
export async function claimStatement(trx: Trx, month: string, userId: number, now: number): Promise<boolean> {
  const claimed = await trx
    .insertInto('statement_emails')
    .values({ month, user_id: userId, state: 'sending', updated_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['month', 'user_id'])
        .doUpdateSet({ state: 'sending', updated_at: now })
        .where('statement_emails.state', '=', 'waiting'),
    )
    .returning('user_id')
    .executeTakeFirst()
  return claimed !== undefined
}

/** Records the result of an email that this node had reserved. */
export async function endStatement(
  trx: Trx,
  email: { month: string; userId: number; state: 'sent' | 'refused' | 'waiting'; now: number },
): Promise<void> {
  const { month, userId, state, now } = email
  await trx
    .updateTable('statement_emails')
    .set({ state, updated_at: now })
    .where('month', '=', month)
    .where('user_id', '=', userId)
    .execute()
}

/** The number of a month's emails in each state. */
export function statementCounts(db: Db, month: string): Promise<{ state: string; count: number }[]> {
  return db
    .selectFrom('statement_emails')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('month', '=', month)
    .groupBy('state')
    .execute()
}

/** True if a user wants statements by email. */
export async function wantsStatements(db: Db, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('statement_optouts')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row === undefined
}

/** Switches a user's statements by email on or off. */
export async function setStatementsWanted(trx: Trx, userId: number, wanted: boolean): Promise<void> {
  if (wanted) await trx.deleteFrom('statement_optouts').where('user_id', '=', userId).execute()
  else
    await trx
      .insertInto('statement_optouts')
      .values({ user_id: userId })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .execute()
}

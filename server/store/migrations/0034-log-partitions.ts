import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The number of times that the migration tries to lock the log while other nodes use it. This takes about a minute. */
const lockTries = 200

/** The name of the partition that is made from an existing table with rows, and the name of the default partition. */
const former = 'logs_before'
const defaultPartition = 'logs_default'

/**
 * A transaction that waits for a lock blocks all transactions that ask for the table later, so each attempt to lock the
 * log is short.
 */
const lockLog = `do $$ begin
  for attempt in 1 .. ${lockTries} loop
    begin
      perform set_config('lock_timeout', '100ms', true);
      lock table logs in access exclusive mode;
      perform set_config('lock_timeout', '0', true);
      return;
    exception when lock_not_available then
      if attempt = ${lockTries} then
        raise;
      end if;
      perform pg_sleep(0.1 + random() * 0.2);
    end;
  end loop;
end $$`

/**
 * Partitions the log by month on PostgreSQL. An existing table with rows becomes a partition for rows of any time. This
 * takes only a moment, because its rows are not read. `take-over.ts` gives this partition an upper bound later. An
 * empty table becomes the default partition.
 *
 * Each partition has a primary key and indexes, but the partitioned table has none, because PostgreSQL would build them
 * for the old table when it is attached, which takes long. Ids are unique because they come from one sequence.
 */
export const logPartitioning: Migration = {
  name: '0034-log-partitions',
  async up(db, dialect) {
    if (dialect !== 'postgres') return
    const run = (statement: string) => sql.raw(statement).execute(db)
    await run(lockLog)
    const isEmpty = (await db.selectFrom('logs').select('id').limit(1).execute()).length === 0
    const { rows } = await sql<{ next: number }>`
      select nextval(pg_get_serial_sequence('logs', 'id')) as next`.execute(db)
    const next = Number(rows[0]?.next ?? 1)
    const old = isEmpty ? defaultPartition : former
    await run('drop trigger logs_writer on logs')
    await run('alter table logs alter column id drop identity')
    await run(`alter table logs rename to ${old}`)
    await run(`create table logs (like ${old} including defaults) partition by range (created_at)`)
    // Ids come from a sequence by default, because identity columns of partitioned tables differ between versions of
    // PostgreSQL.
    await run('create sequence logs_id_seq owned by logs.id')
    if (next > 1) await run(`select setval('logs_id_seq', ${next - 1})`)
    await run("alter table logs alter column id set default nextval('logs_id_seq')")
    if (!isEmpty) {
      await run(`alter table logs attach partition ${old} for values from (minvalue) to (maxvalue)`)
      await run(`create table ${defaultPartition} (like ${old} including indexes)`)
    }
    await run(`alter table logs attach partition ${defaultPartition} default`)
    await run(
      'create trigger logs_writer before insert on logs for each statement execute function tollgate_log_writer()',
    )
    if (isEmpty) for (const statement of monthsAhead(new Date())) await run(statement)
  },
}

/** Statements that create the partitions of a month and of the next three months. */
function monthsAhead(now: Date): string[] {
  return [0, 1, 2, 3].flatMap((later) => {
    const start = (plus: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later + plus)
    const name = `logs_${new Date(start(0)).toISOString().slice(0, 7).replace('-', '_')}`
    return [
      `create table ${name} (like ${defaultPartition} including indexes)`,
      `alter table logs attach partition ${name} for values from (${start(0) / 1000}) to (${start(1) / 1000})`,
    ]
  })
}

import { sql } from 'kysely'
import type { Trx } from '../../store.ts'

/** A call waits no longer than this for a table that is about to be locked. */
const waitMs = 100
const tries = 10

/**
 * Locks a table of the log, or several in one attempt, until the transaction ends. A transaction that waits for a lock
 * blocks all later ones, so it waits for a moment only, then lets the others pass, and tries again. Throws PostgreSQL's
 * `lock_not_available` after some seconds, for example while a backup reads the table. Call it before anything is
 * locked for which calls would wait.
 */
export async function lockSoon(
  trx: Trx,
  table: string,
  mode: 'access exclusive' | 'share row exclusive',
): Promise<void> {
  const statement = `do $$ begin
  for attempt in 1 .. ${tries} loop
    begin
      perform set_config('lock_timeout', '${waitMs}ms', true);
      lock table ${table} in ${mode} mode;
      perform set_config('lock_timeout', '0', true);
      return;
    exception when lock_not_available then
      if attempt = ${tries} then
        raise;
      end if;
      perform pg_sleep(0.1 + random() * 0.2);
    end;
  end loop;
end $$`
  await sql.raw(statement).execute(trx)
}

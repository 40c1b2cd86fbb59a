import { sql } from 'kysely'
import type { Trx } from '../../store.ts'

/**
 * The maximum time in milliseconds that one attempt waits for the lock. Calls that need the table are delayed by no
 * more than this.
 */
const waitMs = 100
const tries = 10

/**
 * Locks one or more tables of the log with one statement, until the transaction ends. A transaction that waits for a
 * lock blocks all transactions that ask for the table later. Each attempt to lock is therefore short, and other
 * transactions can continue before the next attempt. After ten attempts, this throws PostgreSQL's `lock_not_available`,
 * for example while a backup reads the table. Call this before locking anything else that calls need.
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

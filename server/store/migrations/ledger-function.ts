import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { settleText } from './batch-settle.ts'
import { takeText } from './batch-take.ts'
import { capFunctions } from './caps-functions.ts'
import { limitFunctions } from './limit-functions.ts'
import { quickFunction } from './quick-function.ts'

type Database = Parameters<Migration['up']>[0]

/**
 * The current ledger batch, as PostgreSQL functions. A batch takes one round trip, and holds its row locks only while
 * the function runs. It first locks all rows in the same order: users, tokens, channels, each by id. Two nodes can
 * therefore not deadlock. The changes of the batch are collected in arrays, and each row is written once at the end,
 * because each update within a transaction leaves a dead version of the row, which cannot be removed before the
 * transaction ends. The rules are the same as in `ledger-sqlite.ts` and `limits-sqlite.ts`, and one contract suite
 * tests both.
 *
 * To change the ledger, edit these texts and add a migration that calls this function. All migrations that call it
 * install the newest version. Of the functions installed here, the server calls only `tollgate_quick` and
 * `tollgate_batch`. The functions of leases are in `lease-functions.ts`.
 */
export async function installLedger(db: Database): Promise<void> {
  // Some migrations run before the one that creates the tables of the caps. The bodies of the functions are therefore
  // not checked. The functions are not called until all migrations have run.
  await sql`set local check_function_bodies = off`.execute(db)
  const { rows } = await sql<{ caps: string | null }>`select to_regclass('caps')::text as caps`.execute(db)
  const hasCaps = rows[0]?.caps != null
  for (const text of [...limitFunctions(), ...(hasCaps ? capFunctions() : []), quickFunction, batchFunction]) {
    await sql.raw(text).execute(db)
  }
}

/**
 * Locks the rows and reads the balances into arrays in the order of the parameters, with null for a row that does not
 * exist. The time is read after the rows are locked. For each account, a later batch therefore never has an earlier
 * time, even if another node sends it.
 */
const lockText = `
  select array_agg(id), array_agg(quota), array_agg(used_quota) into locked, u_quota, u_used from (
    select id, quota, used_quota from users where id = any(user_ids) order by id for no key update) l;
  if locked is distinct from user_ids then
    select array_agg(remain order by n), array_agg(total order by n) into u_quota, u_used from (
      select n, u_quota[array_position(locked, x)] as remain, u_used[array_position(locked, x)] as total
      from unnest(user_ids) with ordinality as e(x, n)) aligned;
  end if;
  select array_agg(id), array_agg(remain_quota), array_agg(used_quota), array_agg(unlimited_quota)
    into locked, t_remain, t_used, t_unlimited from (
    select id, remain_quota, used_quota, unlimited_quota from tokens where id = any(token_ids) order by id for no key update) l;
  if locked is distinct from token_ids then
    select array_agg(remain order by n), array_agg(total order by n), array_agg(free order by n) into t_remain, t_used, t_unlimited from (
      select n, t_remain[array_position(locked, x)] as remain, t_used[array_position(locked, x)] as total,
        t_unlimited[array_position(locked, x)] as free
      from unnest(token_ids) with ordinality as e(x, n)) aligned;
  end if;
  if cardinality(channel_ids) > 0 then
    select array_agg(id), array_agg(capped) into locked, c_capped from (
      select id, capped from channels where id = any(channel_ids) order by id for no key update) l;
    if locked is distinct from channel_ids then
      select array_agg(c_capped[array_position(locked, x)] order by n) into c_capped
        from unnest(channel_ids) with ordinality as e(x, n);
    end if;
  end if;
  now_s := floor(extract(epoch from clock_timestamp()))::bigint;`

/** The part of `tollgate_batch` that writes the changes of the batch, each row once. */
const writeText = `
  if array_remove(x_answers, null) <> '{}' then
    answers := to_jsonb(x_answers);
  end if;
  if cardinality(x_new) > 0 then
    insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
      token_limited, channel_id, prompt_tokens, completion_tokens)
    select x_ids[n], user_ids[x_users[n]], token_ids[x_tokens[n]], x_taken[n], x_crashes[n], x_nodes[n], x_times[n],
      x_models[n], x_requests[n], x_limited[n], coalesce(x_channels[n], 0), coalesce(x_prompts[n], 0),
      coalesce(x_completions[n], 0)
    from unnest(x_new) n;
  end if;
  if x_more is not null then
    insert into limit_windows (owner, owner_id, second, calls, tokens)
      select 'token', id, now_s, calls, tokens from unnest(token_ids, t_calls, t_call_tokens) as d(id, calls, tokens)
      where calls > 0
      union all
      select 'user', id, now_s, calls, tokens from unnest(user_ids, u_calls, u_call_tokens) as d(id, calls, tokens)
      where calls > 0
      on conflict (owner, owner_id, second) do update
        set calls = limit_windows.calls + excluded.calls, tokens = limit_windows.tokens + excluded.tokens;
  end if;
  if s_count > 0 then
    day_start := now_s - now_s % 86400;
    month_start := extract(epoch from date_trunc('month', to_timestamp(now_s) at time zone 'UTC'))::bigint;
  end if;
  for i in 1 .. cardinality(user_ids) loop
    charged := u_charged[i];
    if charged <> 0 then
      update users set quota = quota + u_back[i], used_quota = used_quota + charged,
        request_count = request_count + u_requests[i], unlogged_quota = unlogged_quota + u_unlogged[i],
        spent_today = case when spent_at >= day_start then spent_today + charged else charged end,
        spent_month = case when spent_at >= month_start then spent_month + charged else charged end,
        spent_at = greatest(spent_at, now_s) where id = user_ids[i];
    elsif u_back[i] <> 0 or u_requests[i] <> 0 then
      update users set quota = quota + u_back[i], request_count = request_count + u_requests[i] where id = user_ids[i];
    end if;
  end loop;
  for i in 1 .. cardinality(token_ids) loop
    charged := t_charged[i];
    if charged <> 0 then
      update tokens set remain_quota = remain_quota + t_back[i], granted_quota = granted_quota + t_granted[i],
        used_quota = used_quota + charged, unlogged_quota = unlogged_quota + t_unlogged[i],
        accessed_time = greatest(accessed_time, t_accessed[i]),
        spent_today = case when spent_at >= day_start then spent_today + charged else charged end,
        spent_month = case when spent_at >= month_start then spent_month + charged else charged end,
        spent_at = greatest(spent_at, now_s) where id = token_ids[i];
    elsif t_back[i] <> 0 or t_accessed[i] > 0 then
      update tokens set remain_quota = remain_quota + t_back[i], accessed_time = greatest(accessed_time, t_accessed[i])
        where id = token_ids[i];
    end if;
  end loop;
  for i in 1 .. coalesce(cardinality(channel_ids), 0) loop
    if c_charged[i] <> 0 then
      update channels set used_quota = used_quota + c_charged[i], unlogged_quota = unlogged_quota + c_unlogged[i]
        where id = channel_ids[i];
    end if;
  end loop;`

/**
 * Applies a batch: first settles (parameters `s_`), then extensions and holds (parameters `x_`). Of the latter, the
 * first `x_extends` are extensions. The ids of users, tokens and channels are listed once, in ascending order.
 * Operations refer to them by their positions in the lists. The bits of `s_flags` mean: 1 = the charge may take a
 * balance below zero, 2 = counts as a request, 4 = has a log row. For each row in `log_rows`, `l_settles` contains the
 * position of its settle. `s_more` and `x_more` contain rare details (limits, caps), or are null if no operation has
 * any.
 *
 * Returns the units charged by each settle (null = the hold no longer existed) and the units taken by each extension
 * and hold. If a result is more than an amount, such as a refusal, it is in `answers` at the position of its operation.
 */
const batchFunction = `
create or replace function tollgate_batch(user_ids bigint[], token_ids bigint[], channel_ids bigint[],
  s_ids text[], s_users int[], s_tokens int[], s_channels int[], s_charges bigint[], s_flags int[], s_times bigint[],
  l_settles int[], log_rows jsonb, s_more jsonb,
  x_extends int, x_ids text[], x_users int[], x_tokens int[], x_amounts bigint[], x_minimums bigint[], x_crashes bigint[],
  x_channels bigint[], x_prompts bigint[], x_completions bigint[], x_nodes text[], x_times bigint[], x_models text[],
  x_requests text[], x_more jsonb,
  out s_charged bigint[], out x_taken bigint[], out answers jsonb) language plpgsql as $$
declare
  s_count int := cardinality(s_ids);
  x_count int := cardinality(x_ids);
  now_s bigint;
  day_start bigint;
  month_start bigint;
  locked bigint[];
  -- Balances and totals at this point of the batch, and the changes made by the batch.
  u_quota bigint[];
  u_used bigint[];
  u_back bigint[] := array_fill(0::bigint, array[cardinality(user_ids)]);
  u_charged bigint[] := u_back;
  u_requests bigint[] := u_back;
  u_unlogged bigint[] := u_back;
  u_open bigint[] := u_back;
  u_calls bigint[] := u_back;
  u_call_tokens bigint[] := u_back;
  u_minutes jsonb[];
  t_remain bigint[];
  t_used bigint[];
  t_unlimited boolean[];
  t_back bigint[] := array_fill(0::bigint, array[cardinality(token_ids)]);
  t_granted bigint[] := t_back;
  t_charged bigint[] := t_back;
  t_unlogged bigint[] := t_back;
  t_accessed bigint[] := t_back;
  t_open bigint[] := t_back;
  t_calls bigint[] := t_back;
  t_call_tokens bigint[] := t_back;
  t_minutes jsonb[];
  c_capped bigint[];
  c_charged bigint[] := array_fill(0::bigint, array[cardinality(channel_ids)]);
  c_unlogged bigint[] := c_charged;
  -- The holds that the settles end. The id becomes null when the settle has been applied.
  g_ids text[];
  g_amounts bigint[];
  g_limited boolean[];
  g_counted bigint[];
  g_seconds bigint[];
  g_tokens bigint[];
  g_users bigint[];
  g_token_ids bigint[];
  -- Changes to the counts per minute.
  m_owners text[] := '{}';
  m_ids bigint[] := '{}';
  m_seconds bigint[] := '{}';
  m_tokens bigint[] := '{}';
  -- Holds that are written at the end.
  x_new int[] := '{}';
  x_limited boolean[];
  x_answers jsonb[];
  pos int;
  u int;
  t int;
  c int;
  op jsonb;
  limits jsonb;
  whose text;
  has_log boolean;
  limited boolean;
  others boolean;
  held bigint;
  back bigint;
  cover bigint;
  charged bigint;
  later_token bigint;
  later_user bigint;
  wanted bigint;
  needed bigint;
  taken bigint;
  used bigint;
  mask bigint;
  reserved bigint;
  budget jsonb;
  minutes jsonb;
  refused jsonb;
  place jsonb;
  freed cap_places[];
  own bigint[];
begin
  s_charged := array_fill(null::bigint, array[s_count]);
  x_taken := array_fill(null::bigint, array[x_count]);
  x_answers := array_fill(null::jsonb, array[x_count]);
${lockText}
${settleText}
${takeText}
${writeText}
end $$`

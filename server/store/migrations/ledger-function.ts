import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { capFunctions } from './caps-functions.ts'
import { limitFunctions } from './limit-functions.ts'
import { insertLogs, quickFunction } from './quick-function.ts'

type Database = Parameters<Migration['up']>[0]

/**
 * The current ledger batch, as PostgreSQL functions. A batch is one round trip, and its row locks are held only while
 * it runs. All rows are locked first, in id order, users before tokens before channels, so two nodes cannot deadlock.
 * What the batch changes in them is kept in arrays, and each row is written once at the end, because the versions of a
 * row that one transaction makes cannot be removed before it ends. The rules are those of `ledger-sqlite.ts` and
 * `limits-sqlite.ts`; one contract suite tests both.
 *
 * A migration that changes the ledger edits this text and calls this function, so each such migration installs the
 * newest version. Only `tollgate_quick` and `tollgate_batch` are called from outside.
 */
export async function installLedger(db: Database): Promise<void> {
  // Earlier migrations install this text before the tables of the caps exist. Nobody calls it until they do.
  await sql`set local check_function_bodies = off`.execute(db)
  const { rows } = await sql<{ caps: string | null }>`select to_regclass('caps')::text as caps`.execute(db)
  const hasCaps = rows[0]?.caps != null
  for (const text of [...limitFunctions(), ...(hasCaps ? capFunctions() : []), quickFunction, batchFunction]) {
    await sql.raw(text).execute(db)
  }
}

/**
 * Locks the rows and reads the balances into arrays that have the order of the parameters. A row that does not exist has
 * null. The time is that at which the rows are ours, so that it never goes back for one account, whichever node writes.
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

const settleText = `
  if s_count > 0 then
    with gone as (delete from holds where id = any(s_ids) returning *)
    select array_agg(id), array_agg(amount), array_agg(token_limited), array_agg(counted), array_agg(window_second),
      array_agg(window_tokens), array_agg(user_id), array_agg(token_id)
      into g_ids, g_amounts, g_limited, g_counted, g_seconds, g_tokens, g_users, g_token_ids from gone;
  end if;
  for i in 1 .. s_count loop
    pos := array_position(g_ids, s_ids[i]);
    continue when pos is null;
    g_ids[pos] := null;
    u := s_users[i];
    t := s_tokens[i];
    op := nullif(s_more->(i - 1), 'null');
    has_log := s_flags[i] & 4 > 0;
    back := g_amounts[pos] - s_charges[i];
    if back < 0 and s_flags[i] & 1 = 0 then
      cover := coalesce(u_quota[u], 0);
      if g_limited[pos] then
        cover := least(cover, coalesce(t_remain[t], 0));
      end if;
      if op ? 'limits' then
        -- The holds of the batch are over by now. What this one held is part of the room; what those after it held is not.
        select coalesce(sum(h.amount) filter (where h.of_token = token_ids[t]), 0), coalesce(sum(h.amount), 0)
          into later_token, later_user from unnest(g_ids, g_amounts, g_counted, g_users, g_token_ids)
            as h(id, amount, counted, of_user, of_token)
          where h.id is not null and h.counted > 0 and h.of_user = user_ids[u];
        budget := tollgate_budget(op->'limits', user_ids[u], token_ids[t], t_charged[t] + later_token,
          u_charged[u] + later_user, now_s);
        cover := least(cover, (budget->>'room')::bigint - g_amounts[pos]);
      end if;
      back := -least(-back, greatest(0, cover));
    end if;
    charged := g_amounts[pos] - back;
    s_charged[i] := charged;
    u_quota[u] := u_quota[u] + back;
    u_back[u] := u_back[u] + back;
    u_charged[u] := u_charged[u] + charged;
    if s_flags[i] & 2 > 0 then
      u_requests[u] := u_requests[u] + 1;
    end if;
    t_charged[t] := t_charged[t] + charged;
    if g_limited[pos] then
      t_remain[t] := t_remain[t] + back;
      t_back[t] := t_back[t] + back;
    else
      t_granted[t] := t_granted[t] + charged;
    end if;
    if t_accessed[t] < s_times[i] then
      t_accessed[t] := s_times[i];
    end if;
    c := s_channels[i];
    if c > 0 then
      c_charged[c] := c_charged[c] + charged;
    end if;
    if not has_log and charged <> 0 then
      u_unlogged[u] := u_unlogged[u] + charged;
      t_unlogged[t] := t_unlogged[t] + charged;
      if c > 0 then
        c_unlogged[c] := c_unlogged[c] + charged;
      end if;
    end if;
    continue when g_counted[pos] = 0 and (c = 0 or coalesce(c_capped[c], 0) = 0);
    if g_counted[pos] & 6 > 0 and op ? 'tokens' and (op->>'tokens')::bigint <> g_tokens[pos] then
      foreach whose in array array['token', 'user'] loop
        continue when g_counted[pos] & case whose when 'token' then 2 else 4 end = 0;
        m_owners := m_owners || whose;
        m_ids := m_ids || case whose when 'token' then token_ids[t] else user_ids[u] end;
        m_seconds := m_seconds || g_seconds[pos];
        m_tokens := m_tokens || ((op->>'tokens')::bigint - g_tokens[pos]);
      end loop;
    end if;
    if g_counted[pos] & 8 > 0 or (c > 0 and c_capped[c] > 0) then
      perform tollgate_cap_settle(coalesce(op, '{}') || jsonb_build_object('id', s_ids[i],
        'channelId', case when c > 0 then channel_ids[c] else 0 end,
        'log', case when has_log then log_rows->(array_position(l_settles, i) - 1) end), charged, c > 0 and c_capped[c] > 0, now_s);
    end if;
  end loop;
  if cardinality(m_owners) > 0 then
    perform tollgate_settle_minutes(m_owners, m_ids, m_seconds, m_tokens, now_s);
  end if;
  if cardinality(l_settles) > 0 then
    ${insertLogs(
      'l_settles',
      {
        content: `l.content || case when s_charged[l.n] < s_charges[l.n]
          then '; price ' || s_charges[l.n] || ', only ' || s_charged[l.n] || ' could be charged' else '' end`,
        quota: 's_charged[l.n]',
      },
      'where s_charged[l.n] is not null',
    )}
  end if;`

/** Extensions come before holds. Each looks for its place and its limits first, then for quota. */
const takeText = `
  for i in 1 .. x_count loop
    u := x_users[i];
    t := x_tokens[i];
    op := nullif(x_more->(i - 1), 'null');
    wanted := x_amounts[i];
    needed := x_minimums[i];
    place := null;
    minutes := null;
    refused := null;
    budget := null;
    taken := 0;
    if i <= x_extends then
      select amount, token_limited, counted into held, limited, mask from holds where id = x_ids[i];
      if not found then
        x_answers[i] := ('{"ok":false,"reason":"gone","available":0,"othersOpen":false,"used":0}'::jsonb);
        continue;
      end if;
      if op ? 'caps' or op ? 'leaves' then
        freed := tollgate_cap_free(x_ids[i]);
        mask := mask & ~8::bigint;
        if op ? 'caps' then
          own := array(select f.cap_id from unnest(freed) f);
          place := tollgate_cap_place(jsonb_set(op, '{caps,least}',
            to_jsonb(greatest((op->'caps'->>'least')::bigint, held))), own, now_s);
          if place ? 'reason' then
            perform tollgate_cap_restore(freed);
            x_answers[i] := (place);
            continue;
          end if;
          wanted := least(wanted, (place->>'room')::bigint - held);
          mask := mask | 8;
        end if;
      elsif mask & 8 > 0 and wanted > 0 then
        cover := tollgate_cap_grow(x_ids[i], now_s);
        if cover < needed then
          x_answers[i] := ('{"ok":false,"reason":"full","cap":0,"metric":"quota","retryAfter":1,"othersOpen":true,"never":false}'::jsonb);
          continue;
        end if;
        wanted := least(wanted, cover);
      end if;
    else
      limited := coalesce(not t_unlimited[t], false);
      mask := 0;
      if op ? 'caps' then
        place := tollgate_cap_place(op || jsonb_build_object('id', x_ids[i]), '{}', now_s);
        if not place ? 'reason' then
          wanted := least(wanted, (place->>'room')::bigint);
          needed := least(needed, (place->>'room')::bigint);
          mask := 8;
        end if;
      end if;
      if op ? 'limits' then
        limits := op->'limits';
        minutes := '{}';
        if (limits->'token'->>'rpm_limit')::bigint > 0 or (limits->'token'->>'tpm_limit')::bigint > 0 then
          t_minutes[t] := coalesce(t_minutes[t], tollgate_minute('token', token_ids[t], now_s));
          minutes := jsonb_build_object('token', t_minutes[t]);
        end if;
        if (limits->'user'->>'rpm_limit')::bigint > 0 or (limits->'user'->>'tpm_limit')::bigint > 0 then
          u_minutes[u] := coalesce(u_minutes[u], tollgate_minute('user', user_ids[u], now_s));
          minutes := minutes || jsonb_build_object('user', u_minutes[u]);
        end if;
        refused := tollgate_limit(limits, user_ids[u], token_ids[t], minutes, now_s,
          array[t_calls[t], t_call_tokens[t], u_calls[u], u_call_tokens[u]]);
        if refused is not null then
          x_answers[i] := (refused || jsonb_build_object('ok', false, 'reason', 'limit', 'minutes', minutes));
          continue;
        end if;
      end if;
    end if;

    if i > x_extends or wanted <> 0 then
      if u_quota[u] is null or t_remain[t] is null then
        refused := '{"ok":false,"reason":"gone","available":0,"othersOpen":false,"used":0}';
      else
        if limited and t_remain[t] < needed then
          refused := jsonb_build_object('reason', 'token', 'available', greatest(0, t_remain[t]));
        elsif u_quota[u] < needed then
          refused := jsonb_build_object('reason', 'user', 'available', greatest(0, u_quota[u]));
        else
          taken := least(wanted, u_quota[u]);
          if limited then
            taken := least(taken, t_remain[t]);
          end if;
          if op ? 'limits' then
            budget := tollgate_budget(op->'limits', user_ids[u], token_ids[t], t_charged[t], u_charged[u], now_s);
            if (budget->>'room')::bigint < needed then
              taken := 0;
              refused := jsonb_build_object('reason', budget->>'owner', 'available', greatest(0, (budget->>'room')::bigint),
                'budget', budget->>'budget', 'retryAfter', budget->'retryAfter');
            else
              taken := least(taken, (budget->>'room')::bigint);
            end if;
          end if;
        end if;
        if refused is not null then
          if refused->>'reason' = 'token' then
            others := t_open[t] > 0 or exists(select 1 from holds where token_id = token_ids[t] and id <> x_ids[i]);
            used := t_used[t] + t_charged[t];
          else
            others := u_open[u] > 0 or exists(select 1 from holds where user_id = user_ids[u] and id <> x_ids[i]);
            used := u_used[u] + u_charged[u];
          end if;
          refused := refused || jsonb_build_object('ok', false, 'othersOpen', others, 'used', used);
        end if;
      end if;
    end if;

    if i <= x_extends then
      if refused is not null and place is null then
        x_answers[i] := (refused);
        -- A call that leaves a channel with caps has left it, whatever it gets.
        if op ? 'leaves' then
          update holds set counted = mask where id = x_ids[i];
        end if;
        continue;
      end if;
      if place is not null then
        -- The call moves even if there is no more quota; whether the hold is enough for it, its owner decides.
        x_answers[i] := (jsonb_build_object('ok', true, 'amount', taken, 'part', place->'part'));
        perform tollgate_cap_count(op || jsonb_build_object('id', x_ids[i]), place->>'whose', held + taken, now_s);
      else
        x_taken[i] := taken;
        if mask & 8 > 0 and taken > 0 then
          update cap_places p set reserved = p.reserved + taken from caps cap
            where p.hold_id = x_ids[i] and cap.id = p.cap_id and cap.metric in ('quota', 'cost');
          update cap_counts n set used = n.used + taken from caps cap, cap_places p
            where p.hold_id = x_ids[i] and cap.id = p.cap_id and cap.metric in ('quota', 'cost')
              and n.cap_id = p.cap_id and n.part = p.part and n.start = p.start;
        end if;
      end if;
      update holds set amount = amount + taken, counted = mask, crash_charge = x_crashes[i],
        channel_id = coalesce(x_channels[i], channel_id), prompt_tokens = coalesce(x_prompts[i], prompt_tokens),
        completion_tokens = coalesce(x_completions[i], completion_tokens) where id = x_ids[i];
    else
      if place ? 'reason' then
        -- That the account cannot pay comes first: waiting for a place would not help.
        x_answers[i] := (coalesce(refused, tollgate_cap_line(op, place)));
        continue;
      end if;
      if refused is not null then
        x_answers[i] := (refused ||
          case when minutes is null then '{}'::jsonb else jsonb_build_object('minutes', minutes) end);
        continue;
      end if;
      if op is null or not op ? 'limits' and mask = 0 then
        x_taken[i] := taken;
        x_limited[i] := limited;
        x_new := x_new || i;
        u_open[u] := u_open[u] + 1;
        t_open[t] := t_open[t] + 1;
      else
        reserved := 0;
        if op ? 'limits' then
          -- 1 = counted; 2 and 4 more = in the minute of the token, of the user.
          reserved := (limits->>'tokens')::bigint;
          mask := mask | 1;
          if minutes ? 'token' then
            mask := mask | 2;
            t_calls[t] := t_calls[t] + 1;
            t_call_tokens[t] := t_call_tokens[t] + reserved;
            t_minutes[t] := jsonb_build_object('calls', (t_minutes[t]->>'calls')::bigint + 1,
              'tokens', (t_minutes[t]->>'tokens')::bigint + reserved, 'callsReset', 61,
              'tokensReset', case when reserved > 0 then 61 else (t_minutes[t]->>'tokensReset')::bigint end);
            minutes := minutes || jsonb_build_object('token', t_minutes[t]);
          end if;
          if minutes ? 'user' then
            mask := mask | 4;
            u_calls[u] := u_calls[u] + 1;
            u_call_tokens[u] := u_call_tokens[u] + reserved;
            u_minutes[u] := jsonb_build_object('calls', (u_minutes[u]->>'calls')::bigint + 1,
              'tokens', (u_minutes[u]->>'tokens')::bigint + reserved, 'callsReset', 61,
              'tokensReset', case when reserved > 0 then 61 else (u_minutes[u]->>'tokensReset')::bigint end);
            minutes := minutes || jsonb_build_object('user', u_minutes[u]);
          end if;
        end if;
        -- Written at once, because the limits of the next hold read the holds that are counted.
        insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
          token_limited, channel_id, prompt_tokens, completion_tokens, counted, window_second, window_tokens)
        values (x_ids[i], user_ids[u], token_ids[t], taken, x_crashes[i], x_nodes[i], x_times[i], x_models[i],
          x_requests[i], limited, coalesce(x_channels[i], 0), coalesce(x_prompts[i], 0), coalesce(x_completions[i], 0),
          mask, case when mask & 1 > 0 then now_s else 0 end, reserved);
        if place is not null then
          perform tollgate_cap_count(op || jsonb_build_object('id', x_ids[i]), place->>'whose', taken, now_s);
        end if;
        x_answers[i] := (jsonb_build_object('ok', true, 'amount', taken)
          || case when place is null then '{}'::jsonb else jsonb_build_object('part', place->'part') end
          || case when minutes is null then '{}'::jsonb else jsonb_build_object('minutes', minutes) end);
      end if;
    end if;
    if taken > 0 then
      u_quota[u] := u_quota[u] - taken;
      u_back[u] := u_back[u] - taken;
      if limited then
        t_remain[t] := t_remain[t] - taken;
        t_back[t] := t_back[t] - taken;
      end if;
    end if;
  end loop;`

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
 * Applies a batch: settles (\`s_\`), then extensions and holds (\`x_\`, the first \`x_extends\` are extensions). Users, tokens
 * and channels are listed once each, in id order, and operations contain their positions in the lists. \`s_flags\`: 1 = the
 * charge may take a balance below zero, 2 = counts as a request, 4 = has a log row. \`l_settles\` are the settles of the
 * rows in \`log_rows\`. \`s_more\` and \`x_more\` contain what few operations have (limits, caps), or are null if none has.
 *
 * Returns the units charged (null = the hold was gone) and taken, and in \`answers\` the results of takes that are more
 * than an amount, by position.
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
  -- Balances and totals at this point of the batch, and what the batch changes in them.
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
  -- The holds that the settles end. The id is null once its settle has been made.
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

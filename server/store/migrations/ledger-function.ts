import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { capFunctions } from './caps-functions.ts'

type Database = Parameters<Migration['up']>[0]

/**
 * The current ledger batch, as PostgreSQL functions. A batch is one round trip, and its row locks are held only while
 * it runs. All rows are locked first, in id order, users before tokens before channels, so two nodes cannot deadlock.
 * The rules are those of `ledger-sqlite.ts` and `limits-sqlite.ts`; one contract suite tests both.
 *
 * A migration that changes the ledger edits this text and calls this function, so each such migration installs the
 * newest version. Only `tollgate_ledger` is called from outside, and nodes of the previous version may still be calling
 * it.
 */
export async function installLedger(db: Database): Promise<void> {
  // Earlier migrations install this text before the tables of the caps exist. Nobody calls it until they do.
  await sql`set local check_function_bodies = off`.execute(db)
  const { rows } = await sql<{ caps: string | null }>`select to_regclass('caps')::text as caps`.execute(db)
  const hasCaps = rows[0]?.caps != null
  for (const text of [
    minuteFunction,
    minutesFunction,
    waitFunction,
    limitFunction,
    budgetFunction,
    takeFunction,
    holdFunction,
    settleMinuteFunction,
    ...(hasCaps ? capFunctions() : []),
    applyFunction,
  ]) {
    await sql.raw(text).execute(db)
  }
}

/** What a token or a user used in the last minute: 60 whole seconds and the current one. */
const minuteFunction = `
create or replace function tollgate_minute(whose text, whose_id bigint, now_s bigint) returns jsonb language plpgsql as $$
begin
  return (select jsonb_build_object('calls', coalesce(sum(calls), 0), 'tokens', coalesce(sum(tokens), 0),
      'callsReset', greatest(0, coalesce(max(case when calls > 0 then second end) + 61 - now_s, 0)),
      'tokensReset', greatest(0, coalesce(max(case when tokens > 0 then second end) + 61 - now_s, 0)))
    from limit_windows where owner = whose and owner_id = whose_id and second > now_s - 61);
end $$`

/** What the owners of a hold's limits used in the last minute, by owner. */
const minutesFunction = `
create or replace function tollgate_minutes(op jsonb, now_s bigint) returns jsonb language plpgsql as $$
declare
  whose text;
  limits jsonb;
  minutes jsonb := '{}';
begin
  foreach whose in array array['token', 'user'] loop
    limits := op->'limits'->whose;
    if (limits->>'rpm_limit')::bigint > 0 or (limits->>'tpm_limit')::bigint > 0 then
      minutes := minutes || jsonb_build_object(whose, tollgate_minute(whose, (op->>(whose || 'Id'))::bigint, now_s));
    end if;
  end loop;
  return minutes;
end $$`

/** Seconds until this many calls, and this many tokens, are no longer within the last minute. */
const waitFunction = `
create or replace function tollgate_wait(whose text, whose_id bigint, now_s bigint, need_calls bigint, need_tokens bigint)
returns bigint language plpgsql as $$
begin
  return coalesce((select min(second) + 61 - now_s from (
      select second, sum(calls) over (order by second) as calls_gone, sum(tokens) over (order by second) as tokens_gone
      from limit_windows where owner = whose and owner_id = whose_id and second > now_s - 61
    ) gone where calls_gone >= need_calls and tokens_gone >= need_tokens), 60);
end $$`

/**
 * The reason why a limit of its token or user refuses a hold, or null. \`minutes\` contains the per-minute counts of
 * each owner that has a limit per minute.
 */
const limitFunction = `
create or replace function tollgate_limit(op jsonb, minutes jsonb, now_s bigint) returns jsonb language plpgsql as $$
declare
  whose text;
  whose_id bigint;
  limits jsonb;
  calls bigint;
  tokens bigint;
  asked bigint := (op->'limits'->>'tokens')::bigint;
  most bigint;
  open bigint;
begin
  foreach whose in array array['token', 'user'] loop
    limits := op->'limits'->whose;
    continue when limits is null;
    whose_id := (op->>(whose || 'Id'))::bigint;
    calls := (minutes->whose->>'calls')::bigint;
    tokens := (minutes->whose->>'tokens')::bigint;
    most := (limits->>'rpm_limit')::bigint;
    if most > 0 and calls >= most then
      return jsonb_build_object('limit', 'requests', 'owner', whose, 'most', most,
        'retryAfter', tollgate_wait(whose, whose_id, now_s, calls + 1 - most, 0));
    end if;
    most := (limits->>'tpm_limit')::bigint;
    if most > 0 and asked > most - tokens then
      return jsonb_build_object('limit', 'tokens', 'owner', whose, 'most', most,
        'retryAfter', tollgate_wait(whose, whose_id, now_s, 0, tokens + asked - most));
    end if;
    most := (limits->>'concurrency_limit')::bigint;
    if most > 0 then
      select count(*) into open from holds where counted > 0 and user_id = (op->>'userId')::bigint
        and (whose = 'user' or token_id = whose_id);
      if open >= most then
        return jsonb_build_object('limit', 'concurrency', 'owner', whose, 'most', most, 'retryAfter', 1);
      end if;
    end if;
  end loop;
  return null;
end $$`

/** What is left of the tightest budget of the token and the user; null if there is no budget. */
const budgetFunction = `
create or replace function tollgate_budget(op jsonb, now_s bigint) returns jsonb language plpgsql as $$
declare
  whose text;
  limits jsonb;
  daily bigint;
  monthly bigint;
  spent_today_now bigint;
  spent_month_now bigint;
  held bigint;
  room bigint;
  tightest jsonb;
  day_start bigint := now_s - now_s % 86400;
  month_start bigint := extract(epoch from date_trunc('month', to_timestamp(now_s) at time zone 'UTC'))::bigint;
  month_end bigint := extract(epoch from date_trunc('month', to_timestamp(now_s) at time zone 'UTC') + interval '1 month')::bigint;
begin
  foreach whose in array array['token', 'user'] loop
    limits := op->'limits'->whose;
    continue when limits is null;
    daily := (limits->>'daily_budget')::bigint;
    monthly := (limits->>'monthly_budget')::bigint;
    continue when daily = 0 and monthly = 0;
    if whose = 'token' then
      select case when spent_at >= day_start then spent_today else 0 end, case when spent_at >= month_start then spent_month else 0 end
        into spent_today_now, spent_month_now from tokens where id = (op->>'tokenId')::bigint;
      select coalesce(sum(amount), 0) into held from holds
        where counted > 0 and user_id = (op->>'userId')::bigint and token_id = (op->>'tokenId')::bigint;
    else
      select case when spent_at >= day_start then spent_today else 0 end, case when spent_at >= month_start then spent_month else 0 end
        into spent_today_now, spent_month_now from users where id = (op->>'userId')::bigint;
      select coalesce(sum(amount), 0) into held from holds where counted > 0 and user_id = (op->>'userId')::bigint;
    end if;
    if daily > 0 then
      room := daily - spent_today_now - held;
      if tightest is null or room < (tightest->>'room')::bigint then
        tightest := jsonb_build_object('owner', whose, 'budget', 'daily', 'room', room, 'retryAfter', day_start + 86400 - now_s);
      end if;
    end if;
    if monthly > 0 then
      room := monthly - spent_month_now - held;
      if tightest is null or room < (tightest->>'room')::bigint then
        tightest := jsonb_build_object('owner', whose, 'budget', 'monthly', 'room', room, 'retryAfter', month_end - now_s);
      end if;
    end if;
  end loop;
  return tightest;
end $$`

/** Takes quota for a hold or an extension: up to the wanted amount, limited by user, token and budgets, or nothing. */
const takeFunction = `
create or replace function tollgate_take(op jsonb, limited boolean, now_s bigint) returns jsonb language plpgsql as $$
declare
  user_quota bigint;
  token_quota bigint;
  wanted bigint := (op->>'amount')::bigint;
  least bigint := (op->>'minimum')::bigint;
  taken bigint;
  others boolean;
  user_used bigint;
  token_used bigint;
  budget jsonb;
begin
  select u.quota, u.used_quota, t.remain_quota, t.used_quota into user_quota, user_used, token_quota, token_used
    from users u, tokens t where u.id = (op->>'userId')::bigint and t.id = (op->>'tokenId')::bigint;
  if not found then
    return jsonb_build_object('ok', false, 'reason', 'gone', 'available', 0, 'othersOpen', false, 'used', 0);
  end if;
  if limited and token_quota < least then
    select exists(select 1 from holds where token_id = (op->>'tokenId')::bigint and id <> op->>'id') into others;
    return jsonb_build_object('ok', false, 'reason', 'token', 'available', greatest(0, token_quota),
      'othersOpen', others, 'used', token_used);
  end if;
  if user_quota < least then
    select exists(select 1 from holds where user_id = (op->>'userId')::bigint and id <> op->>'id') into others;
    return jsonb_build_object('ok', false, 'reason', 'user', 'available', greatest(0, user_quota),
      'othersOpen', others, 'used', user_used);
  end if;
  taken := least(wanted, user_quota);
  if limited then
    taken := least(taken, token_quota);
  end if;
  if op ? 'limits' then
    budget := tollgate_budget(op, now_s);
    if (budget->>'room')::bigint < least then
      select exists(select 1 from holds where id <> op->>'id' and case when budget->>'owner' = 'token'
        then token_id = (op->>'tokenId')::bigint else user_id = (op->>'userId')::bigint end) into others;
      return jsonb_build_object('ok', false, 'reason', budget->>'owner', 'available', greatest(0, (budget->>'room')::bigint),
        'othersOpen', others, 'used', case when budget->>'owner' = 'token' then token_used else user_used end,
        'budget', budget->>'budget', 'retryAfter', budget->'retryAfter');
    end if;
    taken := least(taken, (budget->>'room')::bigint);
  end if;
  if limited then
    update tokens set remain_quota = remain_quota - taken where id = (op->>'tokenId')::bigint;
  end if;
  update users set quota = quota - taken where id = (op->>'userId')::bigint;
  return jsonb_build_object('ok', true, 'amount', taken);
end $$`

/**
 * Takes a hold with limits. The hold is also counted: as an open call, and in the per-minute counts of the owners that
 * have a limit per minute.
 */
const holdFunction = `
create or replace function tollgate_hold(op jsonb, limited boolean, now_s bigint) returns jsonb language plpgsql as $$
declare
  reserved bigint := (op->'limits'->>'tokens')::bigint;
  minutes jsonb := tollgate_minutes(op, now_s);
  refused jsonb := tollgate_limit(op, minutes, now_s);
  answer jsonb;
  whose text;
begin
  if refused is not null then
    return refused || jsonb_build_object('ok', false, 'reason', 'limit', 'minutes', minutes);
  end if;
  answer := tollgate_take(op, limited, now_s);
  if (answer->>'ok')::boolean then
    -- 1 = counted; 2 and 4 more = in the minute of the token, of the user.
    insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
      token_limited, channel_id, prompt_tokens, completion_tokens, counted, window_second, window_tokens)
    values (op->>'id', (op->>'userId')::bigint, (op->>'tokenId')::bigint, (answer->>'amount')::bigint,
      (op->>'crashCharge')::bigint, op->>'nodeId', (op->>'createdAt')::bigint, op->>'modelName', op->>'requestId', limited,
      coalesce((op->'crashRow'->>'channelId')::bigint, 0), coalesce((op->'crashRow'->>'promptTokens')::bigint, 0),
      coalesce((op->'crashRow'->>'completionTokens')::bigint, 0),
      1 + case when minutes ? 'token' then 2 else 0 end + case when minutes ? 'user' then 4 else 0 end, now_s, reserved);
    for whose in select jsonb_object_keys(minutes) loop
      insert into limit_windows (owner, owner_id, second, calls, tokens)
      values (whose, (op->>(whose || 'Id'))::bigint, now_s, 1, reserved)
      on conflict (owner, owner_id, second)
        do update set calls = limit_windows.calls + 1, tokens = limit_windows.tokens + excluded.tokens;
    end loop;
    minutes := tollgate_minutes(op, now_s);
  end if;
  return answer || jsonb_build_object('minutes', minutes);
end $$`

/**
 * Replaces the tokens reserved for a counted call with those that it used. Tokens in excess of the reservation count
 * from now on.
 */
const settleMinuteFunction = `
create or replace function tollgate_settle_minute(op jsonb, held holds, now_s bigint) returns void language plpgsql as $$
declare
  whose text;
  more bigint := (op->>'tokens')::bigint - held.window_tokens;
begin
  foreach whose in array array['token', 'user'] loop
    continue when held.counted & case whose when 'token' then 2 else 4 end = 0;
    if more < 0 then
      update limit_windows set tokens = greatest(0, tokens + more)
        where owner = whose and owner_id = (op->>(whose || 'Id'))::bigint and second = held.window_second
          and second > now_s - 61;
    elsif more > 0 then
      insert into limit_windows (owner, owner_id, second, calls, tokens)
      values (whose, (op->>(whose || 'Id'))::bigint, now_s, 0, more)
      on conflict (owner, owner_id, second) do update set tokens = limit_windows.tokens + excluded.tokens;
    end if;
  end loop;
end $$`

const applyFunction = `
create or replace function tollgate_ledger(ops jsonb) returns jsonb language plpgsql as $$
declare
  results jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(ops)]);
  op jsonb;
  place int;
  held holds%rowtype;
  back bigint;
  cover bigint;
  charged bigint;
  unlogged bigint;
  limited boolean;
  answer jsonb;
  now_s bigint;
  day_start bigint;
  month_start bigint;
  -- Log rows, written in one statement.
  logged jsonb[] := '{}';
  is_capped boolean;
  place_taken jsonb;
  freed cap_places[];
  own bigint[];
begin
  perform 1 from users where id in (select (o->>'userId')::bigint from jsonb_array_elements(ops) o) order by id for update;
  perform 1 from tokens where id in (select (o->>'tokenId')::bigint from jsonb_array_elements(ops) o) order by id for update;
  perform 1 from channels where id in
    (select unnest(array[(o->>'channelId')::bigint, (o->>'placedOn')::bigint]) from jsonb_array_elements(ops) o)
    order by id for update;
  -- The time at which the rows are ours, so that it never goes back for one account, whichever node writes.
  now_s := floor(extract(epoch from clock_timestamp()))::bigint;
  day_start := now_s - now_s % 86400;
  month_start := extract(epoch from date_trunc('month', to_timestamp(now_s) at time zone 'UTC'))::bigint;

  for op, place in select o, n from jsonb_array_elements(ops) with ordinality as t(o, n) where o->>'kind' = 'settle' order by n loop
    delete from holds where id = op->>'id' returning * into held;
    if not found then
      results[place] := jsonb_build_object('charged', 0, 'found', false);
      continue;
    end if;
    back := held.amount - (op->>'charge')::bigint;
    if back < 0 and not (op->>'mayGoNegative')::boolean then
      cover := coalesce((select quota from users where id = (op->>'userId')::bigint), 0);
      if held.token_limited then
        cover := least(cover, coalesce((select remain_quota from tokens where id = (op->>'tokenId')::bigint), 0));
      end if;
      if op ? 'limits' then
        -- The hold itself is over by now, so that what it held is part of the room.
        cover := least(cover, (tollgate_budget(op, now_s)->>'room')::bigint - held.amount);
      end if;
      back := -least(-back, greatest(0, cover));
    end if;
    charged := held.amount - back;
    unlogged := case when op->'log' is null or op->'log' = 'null'::jsonb then charged else 0 end;
    update users set quota = quota + back, used_quota = used_quota + charged,
      request_count = request_count + (op->>'requests')::bigint, unlogged_quota = unlogged_quota + unlogged,
      spent_today = case when spent_at >= day_start then spent_today + charged else charged end,
      spent_month = case when spent_at >= month_start then spent_month + charged else charged end,
      spent_at = greatest(spent_at, now_s)
      where id = (op->>'userId')::bigint;
    update tokens set
      remain_quota = remain_quota + case when held.token_limited then back else 0 end,
      granted_quota = granted_quota + case when held.token_limited then 0 else charged end,
      used_quota = used_quota + charged, unlogged_quota = unlogged_quota + unlogged,
      accessed_time = greatest(accessed_time, (op->>'at')::bigint),
      spent_today = case when spent_at >= day_start then spent_today + charged else charged end,
      spent_month = case when spent_at >= month_start then spent_month + charged else charged end,
      spent_at = greatest(spent_at, now_s)
      where id = (op->>'tokenId')::bigint;
    is_capped := false;
    if (op->>'channelId')::bigint <> 0 then
      update channels set used_quota = used_quota + charged, unlogged_quota = unlogged_quota + unlogged
        where id = (op->>'channelId')::bigint returning capped > 0 into is_capped;
    end if;
    if held.counted & 6 > 0 and op ? 'tokens' then
      perform tollgate_settle_minute(op, held, now_s);
    end if;
    if is_capped or held.counted & 8 > 0 then
      perform tollgate_cap_settle(op, charged, coalesce(is_capped, false), now_s);
    end if;
    if op->'log' is not null and op->'log' <> 'null'::jsonb then
      logged := logged || (op->'log' || jsonb_build_object('quota', charged, 'content', (op->'log'->>'content') ||
        case when charged < (op->>'charge')::bigint
          then '; price ' || (op->>'charge') || ', only ' || charged || ' could be charged' else '' end));
    end if;
    results[place] := jsonb_build_object('charged', charged, 'found', true);
  end loop;
  if cardinality(logged) > 0 then
    insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens,
      completion_tokens, channel_id, request_id, elapsed_time, is_stream, system_prompt_reset, token_id,
      first_byte_time, cached_tokens, reasoning_tokens, estimated, outcome, attempts, asked_model, kept_place, cost,
      request)
    select l.user_id, l.created_at, l.type, l.content, l.username, l.token_name, l.model_name, l.quota, l.prompt_tokens,
      l.completion_tokens, l.channel_id, l.request_id, l.elapsed_time, l.is_stream, l.system_prompt_reset, l.token_id,
      l.first_byte_time, l.cached_tokens, l.reasoning_tokens, l.estimated, l.outcome, l.attempts,
      coalesce(l.asked_model, ''), l.kept_place, l.cost, l.request
    from jsonb_populate_recordset(null::logs, to_jsonb(logged)) l;
  end if;

  for op, place in select o, n from jsonb_array_elements(ops) with ordinality as t(o, n) where o->>'kind' = 'extend' order by n loop
    select * into held from holds where id = op->>'id';
    if not found then
      results[place] := jsonb_build_object('ok', false, 'reason', 'gone', 'available', 0, 'othersOpen', false, 'used', 0);
      continue;
    end if;
    limited := held.token_limited;
    place_taken := null;
    if op ? 'caps' or op ? 'leaves' then
      freed := tollgate_cap_free(op->>'id');
      if op ? 'caps' then
        own := array(select f.cap_id from unnest(freed) f);
        place_taken := tollgate_cap_place(jsonb_set(op, '{caps,least}',
          to_jsonb(greatest((op->'caps'->>'least')::bigint, held.amount))), own, now_s);
        if place_taken ? 'reason' then
          perform tollgate_cap_restore(freed);
          results[place] := place_taken;
          continue;
        end if;
        op := op || jsonb_build_object('amount', least((op->>'amount')::bigint, (place_taken->>'room')::bigint - held.amount));
      end if;
      update holds set counted = case when op ? 'caps' then counted | 8 else counted & ~8::bigint end where id = op->>'id';
    elsif held.counted & 8 > 0 and (op->>'amount')::bigint > 0 then
      cover := tollgate_cap_grow(op->>'id', now_s);
      if cover < (op->>'minimum')::bigint then
        results[place] := jsonb_build_object('ok', false, 'reason', 'full', 'cap', 0, 'metric', 'quota', 'retryAfter', 1,
          'othersOpen', true, 'never', false);
        continue;
      end if;
      op := op || jsonb_build_object('amount', least((op->>'amount')::bigint, cover));
    end if;
    if (op->>'amount')::bigint = 0 then
      answer := '{"ok":true,"amount":0}';
    else
      answer := tollgate_take(op, limited, now_s);
    end if;
    if place_taken is not null then
      -- The call moves even if there is no more quota; whether the hold is enough for it, its owner decides.
      answer := jsonb_build_object('ok', true, 'amount', coalesce((answer->>'amount')::bigint, 0), 'part', place_taken->'part');
      perform tollgate_cap_count(op, place_taken->>'whose', held.amount + (answer->>'amount')::bigint, now_s);
    elsif held.counted & 8 > 0 and not op ? 'leaves' and (answer->>'ok')::boolean and (answer->>'amount')::bigint > 0 then
      update cap_places p set reserved = reserved + (answer->>'amount')::bigint from caps c
        where p.hold_id = op->>'id' and c.id = p.cap_id and c.metric in ('quota', 'cost');
      update cap_counts n set used = used + (answer->>'amount')::bigint from caps c, cap_places p
        where p.hold_id = op->>'id' and c.id = p.cap_id and c.metric in ('quota', 'cost')
          and n.cap_id = p.cap_id and n.part = p.part and n.start = p.start;
    end if;
    if (answer->>'ok')::boolean then
      update holds set amount = amount + (answer->>'amount')::bigint, crash_charge = (op->>'crashCharge')::bigint,
        channel_id = coalesce((op->'crashRow'->>'channelId')::bigint, channel_id),
        prompt_tokens = coalesce((op->'crashRow'->>'promptTokens')::bigint, prompt_tokens),
        completion_tokens = coalesce((op->'crashRow'->>'completionTokens')::bigint, completion_tokens)
        where id = op->>'id';
    end if;
    results[place] := answer;
  end loop;

  for op, place in select o, n from jsonb_array_elements(ops) with ordinality as t(o, n) where o->>'kind' = 'hold' order by n loop
    select not unlimited_quota into limited from tokens where id = (op->>'tokenId')::bigint;
    limited := coalesce(limited, false);
    place_taken := null;
    if op ? 'caps' then
      place_taken := tollgate_cap_place(op, '{}', now_s);
      if place_taken ? 'reason' then
        answer := tollgate_own_refusal(op, limited, now_s);
        results[place] := coalesce(answer, tollgate_cap_line(op, place_taken));
        continue;
      end if;
      op := op || jsonb_build_object('amount', least((op->>'amount')::bigint, (place_taken->>'room')::bigint),
        'minimum', least((op->>'minimum')::bigint, (place_taken->>'room')::bigint));
    end if;
    if op ? 'limits' then
      results[place] := tollgate_hold(op, limited, now_s);
      if place_taken is not null and (results[place]->>'ok')::boolean then
        results[place] := results[place] || jsonb_build_object('part', place_taken->'part');
        perform tollgate_cap_count(op, place_taken->>'whose', (results[place]->>'amount')::bigint, now_s);
        update holds set counted = counted | 8 where id = op->>'id';
      end if;
      continue;
    end if;
    answer := tollgate_take(op, limited, now_s);
    if (answer->>'ok')::boolean then
      insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id, token_limited,
        channel_id, prompt_tokens, completion_tokens)
      values (op->>'id', (op->>'userId')::bigint, (op->>'tokenId')::bigint, (answer->>'amount')::bigint,
        (op->>'crashCharge')::bigint, op->>'nodeId', (op->>'createdAt')::bigint, op->>'modelName', op->>'requestId', limited,
        coalesce((op->'crashRow'->>'channelId')::bigint, 0), coalesce((op->'crashRow'->>'promptTokens')::bigint, 0),
        coalesce((op->'crashRow'->>'completionTokens')::bigint, 0));
      if place_taken is not null then
        answer := answer || jsonb_build_object('part', place_taken->'part');
        perform tollgate_cap_count(op, place_taken->>'whose', (answer->>'amount')::bigint, now_s);
        update holds set counted = 8 where id = op->>'id';
      end if;
    end if;
    results[place] := answer;
  end loop;
  return to_jsonb(results);
end $$`

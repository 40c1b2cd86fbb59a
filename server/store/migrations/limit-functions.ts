/**
 * The limits of tokens and users, as PostgreSQL functions for `tollgate_batch`. The rules are the same as in
 * `limits-sqlite.ts`, and one contract suite tests both. The `pending` parameters contain the amounts that the batch
 * has counted but not yet written to the tables.
 */
export const limitFunctions = (): readonly string[] => [
  minuteFunction,
  waitFunction,
  limitFunction,
  budgetFunction,
  settleMinutesFunction,
]

/**
 * The usage of a token or a user in the last minute, read from `limit_windows`: 60 complete seconds and the current
 * one.
 */
const minuteFunction = `
create or replace function tollgate_minute(whose text, whose_id bigint, now_s bigint) returns jsonb language plpgsql as $$
begin
  return (select jsonb_build_object('calls', coalesce(sum(calls), 0), 'tokens', coalesce(sum(tokens), 0),
      'callsReset', greatest(0, coalesce(max(case when calls > 0 then second end) + 61 - now_s, 0)),
      'tokensReset', greatest(0, coalesce(max(case when tokens > 0 then second end) + 61 - now_s, 0)))
    from limit_windows where owner = whose and owner_id = whose_id and second > now_s - 61);
end $$`

/**
 * The number of seconds until at least `need_calls` calls and `need_tokens` tokens are no longer in the last minute.
 * The pending counts of the batch belong to the current second.
 */
const waitFunction = `
create or replace function tollgate_wait(whose text, whose_id bigint, now_s bigint, need_calls bigint, need_tokens bigint,
  pending_calls bigint, pending_tokens bigint)
returns bigint language plpgsql as $$
begin
  return coalesce((select min(second) + 61 - now_s from (
      select second, sum(calls) over (order by second) as calls_gone, sum(tokens) over (order by second) as tokens_gone
      from (
        select second, sum(calls) as calls, sum(tokens) as tokens from (
          select second, calls, tokens from limit_windows
          where owner = whose and owner_id = whose_id and second > now_s - 61
          union all select now_s, pending_calls, pending_tokens
        ) each_row group by second
      ) seconds
    ) gone where calls_gone >= need_calls and tokens_gone >= need_tokens), 60);
end $$`

/**
 * The reason why a limit of the token or the user refuses a hold; null if no limit does. `minutes` contains the
 * per-minute counts of the token and the user, for those of them that have a limit per minute. `pending` contains the
 * calls and tokens that the batch has already counted, for the token and for the user.
 */
const limitFunction = `
create or replace function tollgate_limit(op_limits jsonb, user_id_of bigint, token_id_of bigint, minutes jsonb, now_s bigint,
  pending bigint[])
returns jsonb language plpgsql as $$
declare
  whose text;
  whose_id bigint;
  limits jsonb;
  calls bigint;
  tokens bigint;
  asked bigint := (op_limits->>'tokens')::bigint;
  most bigint;
  open bigint;
  pos int := 1;
begin
  foreach whose in array array['token', 'user'] loop
    limits := op_limits->whose;
    if limits is not null then
      whose_id := case whose when 'token' then token_id_of else user_id_of end;
      calls := (minutes->whose->>'calls')::bigint;
      tokens := (minutes->whose->>'tokens')::bigint;
      most := (limits->>'rpm_limit')::bigint;
      if most > 0 and calls >= most then
        return jsonb_build_object('limit', 'requests', 'owner', whose, 'most', most, 'retryAfter',
          tollgate_wait(whose, whose_id, now_s, calls + 1 - most, 0, pending[pos], pending[pos + 1]));
      end if;
      most := (limits->>'tpm_limit')::bigint;
      if most > 0 and asked > most - tokens then
        return jsonb_build_object('limit', 'tokens', 'owner', whose, 'most', most, 'retryAfter',
          tollgate_wait(whose, whose_id, now_s, 0, tokens + asked - most, pending[pos], pending[pos + 1]));
      end if;
      most := (limits->>'concurrency_limit')::bigint;
      if most > 0 then
        select count(*) into open from holds h where h.counted > 0 and h.user_id = user_id_of
          and (whose = 'user' or h.token_id = whose_id);
        if open >= most then
          return jsonb_build_object('limit', 'concurrency', 'owner', whose, 'most', most, 'retryAfter', 1);
        end if;
      end if;
    end if;
    pos := pos + 2;
  end loop;
  return null;
end $$`

/**
 * The tightest of the token's and the user's budgets, and what is left of it; null if there are no budgets.
 * `pending_token` and `pending_user` are units that the batch has charged or held but not yet written to the tables.
 */
const budgetFunction = `
create or replace function tollgate_budget(op_limits jsonb, user_id_of bigint, token_id_of bigint, pending_token bigint,
  pending_user bigint, now_s bigint)
returns jsonb language plpgsql as $$
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
    limits := op_limits->whose;
    continue when limits is null;
    daily := (limits->>'daily_budget')::bigint;
    monthly := (limits->>'monthly_budget')::bigint;
    continue when daily = 0 and monthly = 0;
    if whose = 'token' then
      select case when spent_at >= day_start then spent_today else 0 end, case when spent_at >= month_start then spent_month else 0 end
        into spent_today_now, spent_month_now from tokens where id = token_id_of;
      select coalesce(sum(h.amount), 0) + pending_token into held from holds h
        where h.counted > 0 and h.user_id = user_id_of and h.token_id = token_id_of;
    else
      select case when spent_at >= day_start then spent_today else 0 end, case when spent_at >= month_start then spent_month else 0 end
        into spent_today_now, spent_month_now from users where id = user_id_of;
      select coalesce(sum(h.amount), 0) + pending_user into held from holds h
        where h.counted > 0 and h.user_id = user_id_of;
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

/**
 * Replaces the tokens that calls have reserved in the per-minute counts with the tokens that they used. `more` contains
 * the difference for each call. If a call used more than it reserved, the excess counts as used now. Each row is
 * written once.
 */
const settleMinutesFunction = `
create or replace function tollgate_settle_minutes(owners text[], owner_ids bigint[], seconds bigint[], more bigint[], now_s bigint)
returns void language plpgsql as $$
begin
  update limit_windows w set tokens = greatest(0, w.tokens + d.tokens) from (
      select owner, owner_id, second, sum(tokens) as tokens from unnest(owners, owner_ids, seconds, more)
        as u(owner, owner_id, second, tokens)
      where tokens < 0 and second > now_s - 61 group by owner, owner_id, second
    ) d where w.owner = d.owner and w.owner_id = d.owner_id and w.second = d.second;
  insert into limit_windows (owner, owner_id, second, calls, tokens)
    select owner, owner_id, now_s, 0, sum(tokens) from unnest(owners, owner_ids, more) as u(owner, owner_id, tokens)
    where tokens > 0 group by owner, owner_id
    on conflict (owner, owner_id, second) do update set tokens = limit_windows.tokens + excluded.tokens;
end $$`

import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * The ledger batch as one PostgreSQL function. A batch therefore takes one round trip, and holds its row locks only
 * while the function runs. It first locks all rows in the same order: users, tokens, channels, each by id. Two nodes
 * can therefore not deadlock. The rules are the same as in `ledger-sqlite.ts`. One contract suite tests both.
 */
export const ledgerFunction: Migration = {
  name: '0002-ledger-function',
  async up(db, dialect) {
    if (dialect === 'postgres') for (const text of [takeFunction, applyFunction]) await sql.raw(text).execute(db)
  },
}

const takeFunction = `
create function tollgate_take(op jsonb, limited boolean) returns jsonb language plpgsql as $$
declare
  user_quota bigint;
  token_quota bigint;
  wanted bigint := (op->>'amount')::bigint;
  least bigint := (op->>'minimum')::bigint;
  taken bigint;
  others boolean;
  user_used bigint;
  token_used bigint;
begin
  select quota, used_quota into user_quota, user_used from users where id = (op->>'userId')::bigint;
  select remain_quota, used_quota into token_quota, token_used from tokens where id = (op->>'tokenId')::bigint;
  if user_quota is null or token_quota is null then
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
    update tokens set remain_quota = remain_quota - taken where id = (op->>'tokenId')::bigint;
  end if;
  update users set quota = quota - taken where id = (op->>'userId')::bigint;
  return jsonb_build_object('ok', true, 'amount', taken);
end $$`

const applyFunction = `
create function tollgate_ledger(ops jsonb) returns jsonb language plpgsql as $$
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
begin
  perform 1 from users where id in (select (o->>'userId')::bigint from jsonb_array_elements(ops) o) order by id for update;
  perform 1 from tokens where id in (select (o->>'tokenId')::bigint from jsonb_array_elements(ops) o) order by id for update;
  perform 1 from channels where id in
    (select (o->>'channelId')::bigint from jsonb_array_elements(ops) o where o->>'kind' = 'settle') order by id for update;

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
      back := -least(-back, greatest(0, cover));
    end if;
    charged := held.amount - back;
    unlogged := case when op->'log' is null or op->'log' = 'null'::jsonb then charged else 0 end;
    update users set quota = quota + back, used_quota = used_quota + charged,
      request_count = request_count + (op->>'requests')::bigint, unlogged_quota = unlogged_quota + unlogged
      where id = (op->>'userId')::bigint;
    update tokens set
      remain_quota = remain_quota + case when held.token_limited then back else 0 end,
      granted_quota = granted_quota + case when held.token_limited then 0 else charged end,
      used_quota = used_quota + charged, unlogged_quota = unlogged_quota + unlogged,
      accessed_time = greatest(accessed_time, (op->>'at')::bigint)
      where id = (op->>'tokenId')::bigint;
    if (op->>'channelId')::bigint <> 0 then
      update channels set used_quota = used_quota + charged, unlogged_quota = unlogged_quota + unlogged
        where id = (op->>'channelId')::bigint;
    end if;
    if op->'log' is not null and op->'log' <> 'null'::jsonb then
      insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens,
        completion_tokens, channel_id, request_id, elapsed_time, is_stream, system_prompt_reset, token_id,
        first_byte_time, cached_tokens, reasoning_tokens, estimated, outcome, attempts)
      select l.user_id, l.created_at, l.type, l.content || case when charged < (op->>'charge')::bigint
          then '; price ' || (op->>'charge') || ', only ' || charged || ' could be charged' else '' end, l.username, l.token_name, l.model_name, charged,
        l.prompt_tokens, l.completion_tokens, l.channel_id, l.request_id, l.elapsed_time, l.is_stream,
        l.system_prompt_reset, l.token_id, l.first_byte_time, l.cached_tokens, l.reasoning_tokens, l.estimated,
        l.outcome, l.attempts
      from jsonb_populate_record(null::logs, op->'log') l;
    end if;
    results[place] := jsonb_build_object('charged', charged, 'found', true);
  end loop;

  for op, place in select o, n from jsonb_array_elements(ops) with ordinality as t(o, n) where o->>'kind' = 'extend' order by n loop
    select token_limited into limited from holds where id = op->>'id';
    if not found then
      results[place] := jsonb_build_object('ok', false, 'reason', 'gone', 'available', 0, 'othersOpen', false, 'used', 0);
      continue;
    end if;
    answer := tollgate_take(op, limited);
    if (answer->>'ok')::boolean then
      update holds set amount = amount + (answer->>'amount')::bigint, crash_charge = (op->>'crashCharge')::bigint
        where id = op->>'id';
    end if;
    results[place] := answer;
  end loop;

  for op, place in select o, n from jsonb_array_elements(ops) with ordinality as t(o, n) where o->>'kind' = 'hold' order by n loop
    select not unlimited_quota into limited from tokens where id = (op->>'tokenId')::bigint;
    answer := tollgate_take(op, coalesce(limited, false));
    if (answer->>'ok')::boolean then
      insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id, token_limited)
      values (op->>'id', (op->>'userId')::bigint, (op->>'tokenId')::bigint, (answer->>'amount')::bigint,
        (op->>'crashCharge')::bigint, op->>'nodeId', (op->>'createdAt')::bigint, op->>'modelName', op->>'requestId',
        coalesce(limited, false));
    end if;
    results[place] := answer;
  end loop;
  return to_jsonb(results);
end $$`

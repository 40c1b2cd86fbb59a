/**
 * The function for batches that nodes of earlier versions call. During an upgrade, these nodes may still run after the
 * first node of this version has migrated the database. The function converts their JSON to the parameters of
 * `tollgate_batch`.
 */
export const ledgerOfBefore = `
create or replace function tollgate_ledger(ops jsonb) returns jsonb language plpgsql as $$
declare
  user_ids bigint[] := array(select distinct (o->>'userId')::bigint as id from jsonb_array_elements(ops) o order by id);
  token_ids bigint[] := array(select distinct (o->>'tokenId')::bigint as id from jsonb_array_elements(ops) o order by id);
  channel_ids bigint[] := array(select id from (
    select (o->>'channelId')::bigint as id from jsonb_array_elements(ops) o
    union select (o->>'placedOn')::bigint from jsonb_array_elements(ops) o) ids where id <> 0 order by id);
  settles jsonb[] := array(select o from jsonb_array_elements(ops) with ordinality as e(o, n) where o->>'kind' = 'settle' order by n);
  takes jsonb[] := array(select o from jsonb_array_elements(ops) with ordinality as e(o, n) where o->>'kind' <> 'settle'
    order by o->>'kind' = 'hold', n);
  done record;
  s int := 0;
  x int;
  extended int := 0;
  op jsonb;
  results jsonb := '[]';
begin
  select * into done from tollgate_batch(user_ids, token_ids, channel_ids,
    array(select o->>'id' from unnest(settles) o),
    array(select array_position(user_ids, (o->>'userId')::bigint) from unnest(settles) o),
    array(select array_position(token_ids, (o->>'tokenId')::bigint) from unnest(settles) o),
    array(select coalesce(array_position(channel_ids, (o->>'channelId')::bigint), 0) from unnest(settles) o),
    array(select (o->>'charge')::bigint from unnest(settles) o),
    array(select case when (o->>'mayGoNegative')::boolean then 1 else 0 end + case when (o->>'requests')::int > 0 then 2 else 0 end
      + case when coalesce(o->'log', 'null') <> 'null' then 4 else 0 end from unnest(settles) o),
    array(select (o->>'at')::bigint from unnest(settles) o),
    array(select n::int from unnest(settles) with ordinality as e(o, n) where coalesce(o->'log', 'null') <> 'null' order by n),
    (select jsonb_agg(o->'log' order by n) from unnest(settles) with ordinality as e(o, n) where coalesce(o->'log', 'null') <> 'null'),
    to_jsonb(settles),
    (select count(*)::int from unnest(takes) o where o->>'kind' = 'extend'),
    array(select o->>'id' from unnest(takes) o),
    array(select array_position(user_ids, (o->>'userId')::bigint) from unnest(takes) o),
    array(select array_position(token_ids, (o->>'tokenId')::bigint) from unnest(takes) o),
    array(select (o->>'amount')::bigint from unnest(takes) o),
    array(select (o->>'minimum')::bigint from unnest(takes) o),
    array(select (o->>'crashCharge')::bigint from unnest(takes) o),
    array(select (o->'crashRow'->>'channelId')::bigint from unnest(takes) o),
    array(select (o->'crashRow'->>'promptTokens')::bigint from unnest(takes) o),
    array(select (o->'crashRow'->>'completionTokens')::bigint from unnest(takes) o),
    array(select o->>'nodeId' from unnest(takes) o),
    array(select (o->>'createdAt')::bigint from unnest(takes) o),
    array(select o->>'modelName' from unnest(takes) o),
    array(select o->>'requestId' from unnest(takes) o),
    to_jsonb(takes));
  x := (select count(*)::int from unnest(takes) o where o->>'kind' = 'extend');
  for op in select o from jsonb_array_elements(ops) o loop
    if op->>'kind' = 'settle' then
      s := s + 1;
      results := results || jsonb_build_object('charged', coalesce(done.s_charged[s], 0), 'found', done.s_charged[s] is not null);
    elsif op->>'kind' = 'extend' then
      extended := extended + 1;
      results := results || coalesce(nullif(done.answers->(extended - 1), 'null'),
        jsonb_build_object('ok', true, 'amount', done.x_taken[extended]));
    else
      x := x + 1;
      results := results || coalesce(nullif(done.answers->(x - 1), 'null'),
        jsonb_build_object('ok', true, 'amount', done.x_taken[x]));
    end if;
  end loop;
  return results;
end $$`

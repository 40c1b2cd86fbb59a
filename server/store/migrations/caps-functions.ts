/**
 * The caps (limits on the use) of channels and keys, as PostgreSQL functions for `tollgate_batch`. A call that the caps
 * of its channel count has a place on the channel. A call that finds no place can wait for one in a queue. The rules
 * are the same as in `caps-sqlite.ts`, and one contract suite tests both. The caller has locked the rows of all
 * channels in the batch, so no other transaction changes the data that these functions read.
 */
export const capFunctions = (): readonly string[] => [
  startFunction,
  usedFunction,
  waitFunction,
  checkFunction,
  placeFunction,
  addFunction,
  countFunction,
  freeFunction,
  restoreFunction,
  growFunction,
  lineFunction,
  settleFunction,
]

/**
 * A call counts as waiting for this many milliseconds after its process last reported that the call is in the queue.
 */
const waitLeaseMs = 3000

/** The start of the window, or of the step of a moving window, that contains a time. */
const startFunction = `
create or replace function tollgate_cap_start(c caps, at_s bigint) returns bigint language plpgsql as $$
begin
  return case c.period
    when 'minute' then at_s
    when 'hour' then at_s - at_s % 60
    when '5h' then at_s - at_s % 300
    when 'ever' then 0
    when 'now' then 0
    else extract(epoch from date_trunc(c.period, to_timestamp(at_s) at time zone c.zone) at time zone c.zone)::bigint
  end;
end $$`

/** The count of the current window. */
const usedFunction = `
create or replace function tollgate_cap_used(c caps, whose text, at_s bigint) returns bigint language plpgsql as $$
declare
  step bigint := case c.period when 'minute' then 1 when 'hour' then 60 when '5h' then 300 end;
begin
  if step is null then
    return coalesce((select used from cap_counts
      where cap_id = c.id and part = whose and start = tollgate_cap_start(c, at_s)), 0);
  end if;
  return coalesce((select sum(used) from cap_counts
    where cap_id = c.id and part = whose and start > tollgate_cap_start(c, at_s) - 61 * step), 0);
end $$`

/** The number of seconds until `gone` units are no longer counted in the window. */
const waitFunction = `
create or replace function tollgate_cap_wait(c caps, whose text, gone bigint, at_s bigint) returns bigint language plpgsql as $$
declare
  step bigint := case c.period when 'minute' then 1 when 'hour' then 60 when '5h' then 300 end;
begin
  if c.period = 'now' then
    return 1;
  elsif c.period = 'ever' then
    return 86400;
  elsif step is not null then
    return coalesce((select min(start) + 61 * step - at_s from (
        select start, sum(used) over (order by start) as so_far from cap_counts
        where cap_id = c.id and part = whose and start > tollgate_cap_start(c, at_s) - 61 * step
      ) steps where so_far >= gone), 60 * step);
  end if;
  return extract(epoch from (date_trunc(c.period, to_timestamp(at_s) at time zone c.zone) + ('1 ' || c.period)::interval)
    at time zone c.zone)::bigint - at_s;
end $$`

/**
 * Checks whether a call may have a place under a cap. If so, returns `{room}` with the units that the call may take
 * (for caps of quota and cost) or `{}`; otherwise the refusal. `own` contains the ids of the caps that already count
 * the call. Under these caps, the call does not wait for the calls in the queue.
 */
const checkFunction = `
create or replace function tollgate_cap_check(c caps, whose text, op jsonb, own bigint[], at_s bigint) returns jsonb language plpgsql as $$
declare
  mine bigint := coalesce((op->'caps'->>'ticket')::bigint, 0);
  most bigint := c.most + case when c.raise_until > at_s then c.raise_by else 0 end;
  used bigint := tollgate_cap_used(c, whose, at_s);
  need bigint := case c.metric when 'tokens' then (op->'caps'->>'tokens')::bigint
    when 'requests' then 1 when 'calls' then 1 else (op->'caps'->>'least')::bigint end;
  behind boolean := false;
begin
  if need <= most and not c.id = any(own) then
    behind := exists(select 1 from cap_waits w where w.cap_id = c.id and (w.part = '' or w.part = whose)
      and w.seen_ms > floor(extract(epoch from clock_timestamp()) * 1000) - ${waitLeaseMs}
      and (mine = 0 or w.ticket < mine));
  end if;
  if need <= most - used and not behind then
    return case when c.metric in ('quota', 'cost') then jsonb_build_object('room', most - used) else '{}'::jsonb end;
  end if;
  return jsonb_build_object('ok', false, 'reason', 'full', 'cap', c.id, 'metric', c.metric, 'owner', c.owner,
    'retryAfter', case when need > most then 86400 when need <= most - used then 1
      else tollgate_cap_wait(c, whose, used + need - most, at_s) end,
    'othersOpen', behind or exists(select 1 from cap_places where cap_id = c.id), 'never', need > most);
end $$`

/**
 * Finds a place for a call on its channel (`{part, whose, room}`), or returns the reason why there is none. The keys
 * are tried in the order of `parts`. If no key has a place, the refusal of the key that will have one first is
 * returned.
 */
const placeFunction = `
create or replace function tollgate_cap_place(op jsonb, own bigint[], at_s bigint) returns jsonb language plpgsql as $$
declare
  c caps%rowtype;
  whose text;
  n bigint;
  answer jsonb;
  room bigint;
  part_room bigint;
  refused jsonb;
  soonest jsonb;
begin
  for c in select * from caps where owner = 'channel' and owner_id = (op->>'channelId')::bigint
      and (pattern is null or op->'caps'->>'model' ~ pattern) order by id loop
    answer := tollgate_cap_check(c, '', op, own, at_s);
    if answer ? 'reason' then
      return answer;
    end if;
    room := least(room, (answer->>'room')::bigint);
  end loop;
  for whose, n in select p, i from jsonb_array_elements_text(op->'caps'->'parts') with ordinality as t(p, i) order by i loop
    refused := null;
    part_room := room;
    for c in select * from caps where owner = 'key' and owner_id = (op->>'channelId')::bigint
        and (pattern is null or op->'caps'->>'model' ~ pattern) order by id loop
      answer := tollgate_cap_check(c, whose, op, own, at_s);
      if answer ? 'reason' then
        refused := answer;
        exit;
      end if;
      part_room := least(part_room, (answer->>'room')::bigint);
    end loop;
    if refused is null then
      return jsonb_build_object('part', n - 1, 'whose', whose, 'room', part_room);
    end if;
    if soonest is null or ((soonest->>'never')::boolean and not (refused->>'never')::boolean)
        or (refused->>'retryAfter')::bigint < (soonest->>'retryAfter')::bigint then
      soonest := refused;
    end if;
  end loop;
  return soonest;
end $$`

/**
 * Adds to the count of a window, or subtracts from it. If the count does not exist and `is_now` is true, it is created.
 * If `is_now` is false, the count has been deleted, so the cap's `forgotten` sum, which contains the deleted counts, is
 * changed instead.
 */
const addFunction = `
create or replace function tollgate_cap_add(cap bigint, whose text, at_start bigint, more bigint, is_now boolean) returns void language plpgsql as $$
begin
  if more = 0 then
    return;
  end if;
  update cap_counts set used = used + more where cap_id = cap and part = whose and start = at_start;
  if found then
    return;
  end if;
  if is_now then
    insert into cap_counts (cap_id, part, start, used) values (cap, whose, at_start, more);
  else
    update caps set forgotten = forgotten + more where id = cap;
  end if;
end $$`

/**
 * Counts a call in all caps of its channel and key that apply to its model, and records the counted amounts in
 * `cap_places`.
 */
const countFunction = `
create or replace function tollgate_cap_count(op jsonb, whose text, taken bigint, at_s bigint) returns void language plpgsql as $$
declare
  c caps%rowtype;
  counted bigint;
  counted_part text;
begin
  for c in select * from caps where owner_id = (op->>'channelId')::bigint and owner in ('channel', 'key')
      and (pattern is null or op->'caps'->>'model' ~ pattern) order by id loop
    counted := case c.metric when 'tokens' then (op->'caps'->>'tokens')::bigint
      when 'requests' then 1 when 'calls' then 1 else taken end;
    counted_part := case when c.owner = 'key' then whose else '' end;
    perform tollgate_cap_add(c.id, counted_part, tollgate_cap_start(c, at_s), counted, true);
    insert into cap_places (hold_id, cap_id, part, start, reserved)
      values (op->>'id', c.id, counted_part, tollgate_cap_start(c, at_s), counted);
  end loop;
  delete from cap_waits where ticket = (op->'caps'->>'ticket')::bigint;
end $$`

/**
 * Frees the place of a call whose attempt failed, and subtracts its reservations from the counts. Caps of requests
 * still count the attempt, because the upstream has received it. Returns the deleted rows of `cap_places`.
 */
const freeFunction = `
create or replace function tollgate_cap_free(hold text) returns cap_places[] language plpgsql as $$
declare
  p cap_places%rowtype;
  freed cap_places[];
  of_metric text;
begin
  for p in delete from cap_places where hold_id = hold returning * loop
    freed := freed || p;
    select metric into of_metric from caps where id = p.cap_id;
    continue when not found;
    if of_metric = 'requests' then
      update caps set unlogged = unlogged + 1 where id = p.cap_id;
    else
      perform tollgate_cap_add(p.cap_id, p.part, p.start, -p.reserved, false);
    end if;
  end loop;
  return freed;
end $$`

/** Undoes `tollgate_cap_free`. */
const restoreFunction = `
create or replace function tollgate_cap_restore(freed cap_places[]) returns void language plpgsql as $$
declare
  p cap_places%rowtype;
begin
  foreach p in array coalesce(freed, '{}') loop
    insert into cap_places values (p.*);
    if exists(select 1 from caps where id = p.cap_id and metric = 'requests') then
      update caps set unlogged = unlogged - 1 where id = p.cap_id;
    else
      perform tollgate_cap_add(p.cap_id, p.part, p.start, p.reserved, false);
    end if;
  end loop;
end $$`

/**
 * Returns the units that a call may still take under the caps of quota and cost; null if there are no such caps. If the
 * window of a reservation has ended, the reservation first moves to the current window.
 */
const growFunction = `
create or replace function tollgate_cap_grow(hold text, at_s bigint) returns bigint language plpgsql as $$
declare
  c caps%rowtype;
  p cap_places%rowtype;
  room bigint;
begin
  for p in select * from cap_places where hold_id = hold order by cap_id loop
    select * into c from caps where id = p.cap_id and metric in ('quota', 'cost');
    continue when not found;
    if p.start <> tollgate_cap_start(c, at_s) then
      perform tollgate_cap_add(c.id, p.part, p.start, -p.reserved, false);
      perform tollgate_cap_add(c.id, p.part, tollgate_cap_start(c, at_s), p.reserved, true);
      update cap_places set start = tollgate_cap_start(c, at_s) where hold_id = hold and cap_id = c.id;
    end if;
    room := least(room, c.most + case when c.raise_until > at_s then c.raise_by else 0 end - tollgate_cap_used(c, p.part, at_s));
  end loop;
  return room;
end $$`

/**
 * Puts a call for which its channel has no place into the queue, if the call is willing to wait and waiting can help.
 */
const lineFunction = `
create or replace function tollgate_cap_line(op jsonb, refused jsonb) returns jsonb language plpgsql as $$
declare
  number bigint := (op->'caps'->>'ticket')::bigint;
  needed text := '';
begin
  if number is null or (refused->>'never')::boolean then
    return refused;
  end if;
  if number = 0 then
    number := nextval('cap_tickets');
  end if;
  if refused->>'owner' = 'key' and jsonb_array_length(op->'caps'->'parts') = 1 then
    needed := op->'caps'->'parts'->>0;
  end if;
  insert into cap_waits (ticket, channel_id, cap_id, part, node_id, seen_ms)
    values (number, (op->>'channelId')::bigint, (refused->>'cap')::bigint, needed, op->>'nodeId',
      floor(extract(epoch from clock_timestamp()) * 1000))
    on conflict (ticket, channel_id)
      do update set cap_id = excluded.cap_id, part = excluded.part, seen_ms = excluded.seen_ms;
  return refused || jsonb_build_object('ticket', number);
end $$`

/**
 * Frees the place of a call that has ended, and replaces its reservations with the figures of its log row. If the
 * channel also has caps that did not count the call, because its node did not know of them, these caps count the row
 * now.
 */
const settleFunction = `
create or replace function tollgate_cap_settle(op jsonb, charged bigint, is_capped boolean, at_s bigint) returns void language plpgsql as $$
declare
  c caps%rowtype;
  p cap_places%rowtype;
  done bigint[] := '{}';
  logged boolean := coalesce(op->'log', 'null'::jsonb) <> 'null'::jsonb;
  used bigint;
  counts boolean;
  more bigint;
  -- The charge, if the upstream's cost is not known.
  cost bigint := coalesce((op->'log'->>'cost')::bigint, (op->>'cost')::bigint, charged);
begin
  for p in delete from cap_places where hold_id = op->>'id' returning * loop
    select * into c from caps where id = p.cap_id;
    continue when not found;
    done := done || c.id;
    if c.metric = 'calls' then
      perform tollgate_cap_add(c.id, p.part, p.start, -p.reserved, false);
      continue;
    end if;
    counts := c.owner_id = (op->>'channelId')::bigint and (not logged or c.pattern is null or op->'log'->>'model_name' ~ c.pattern);
    if c.metric = 'requests' then
      if not (logged and counts) then
        update caps set unlogged = unlogged + 1 where id = c.id;
      end if;
      continue;
    end if;
    used := case when not counts then 0 when c.metric = 'quota' then charged when c.metric = 'cost' then cost
      when logged then (op->'log'->>'prompt_tokens')::bigint + (op->'log'->>'completion_tokens')::bigint
      else coalesce((op->>'tokens')::bigint, p.reserved) end;
    more := used - p.reserved;
    if more < 0 then
      perform tollgate_cap_add(c.id, p.part, p.start, more, false);
    elsif more > 0 then
      perform tollgate_cap_add(c.id, p.part, tollgate_cap_start(c, at_s), more, true);
    end if;
    if not logged and used > 0 then
      update caps set unlogged = unlogged + used where id = c.id;
    end if;
  end loop;
  if not is_capped or not logged then
    return;
  end if;
  for c in select * from caps where owner_id = (op->>'channelId')::bigint and owner in ('channel', 'key')
      and not id = any(done) and metric <> 'calls'
      and (pattern is null or op->'log'->>'model_name' ~ pattern) order by id loop
    used := case c.metric when 'requests' then 1 when 'tokens'
      then (op->'log'->>'prompt_tokens')::bigint + (op->'log'->>'completion_tokens')::bigint when 'cost' then cost else charged end;
    perform tollgate_cap_add(c.id, '', tollgate_cap_start(c, at_s), used, true);
  end loop;
end $$`

import { simpleBatch } from './quick-function.ts'

/**
 * Takes a lease of `share` percent of the quota that is left, but at most `most` units. Returns null if that is less
 * than `least_useful` units, or if the user or the token does not exist.
 */
const takeLease = `
create or replace function tollgate_lease_take(lease_id text, node text, of_user bigint, of_token bigint, share numeric,
  most bigint, least_useful bigint, out taken bigint, out limited boolean) language plpgsql as $$
declare
  user_left bigint;
  token_left bigint;
  free boolean;
begin
  select quota into user_left from users where id = of_user for no key update;
  select remain_quota, unlimited_quota into token_left, free from tokens where id = of_token for no key update;
  if user_left is null or token_left is null then
    return;
  end if;
  taken := floor(share * case when free then user_left else least(user_left, token_left) end / 100)::bigint;
  taken := least(taken, most);
  if taken < least_useful or taken <= 0 then
    taken := null;
    return;
  end if;
  limited := not free;
  update users set quota = quota - taken where id = of_user;
  if limited then
    update tokens set remain_quota = remain_quota - taken where id = of_token;
  end if;
  insert into leases (id, node_id, user_id, token_id, token_limited, amount, version, created_at)
    values (lease_id, node, of_user, of_token, limited, taken, 1, floor(extract(epoch from clock_timestamp()))::bigint);
end $$`

const leaseParameters = 'l_ids text[], l_versions bigint[], l_drawn bigint[]'

/**
 * A simple batch (see `quick-function.ts`) in which calls are paid from leases. The charges of these calls are in the
 * sums of `charged`, but not in the sums of `back` and `need`, because the quota of the lease was already taken from
 * the balance. `ended` counts all calls that end. `s_count` counts only those of them that have a row in `holds`.
 *
 * If a token has become limited or unlimited since the lease was taken, the batch is not a simple one.
 */
const leasedFunction = simpleBatch({
  name: 'tollgate_leased',
  more: `, ended int, ${leaseParameters}`,
  endsNone: 'ended = 0',
  isPlain: false,
  before: `
  update leases l set amount = l.amount - d.drawn, version = l.version + 1
    from unnest(l_ids, l_versions, l_drawn) as d(id, version, drawn), tokens t
    where l.id = d.id and l.version = d.version and l.amount >= d.drawn and t.id = l.token_id
      and l.token_limited <> t.unlimited_quota;
  get diagnostics written = row_count;
  if written <> cardinality(l_ids) then
    raise exception 'not a simple batch' using errcode = 'TG001';
  end if;`,
})

/**
 * Any batch in which calls are paid from leases. The function first writes a row in `holds` for each of these calls,
 * with the amount that it takes from its lease, even if the call ends in the same batch. It then calls
 * `tollgate_batch`, whose parameters follow its own. If a lease does not exist, has another version or is too small,
 * the function raises TG002 and changes nothing.
 */
const mixedFunction = `
create or replace function tollgate_mixed(${leaseParameters}, d_leases text[], d_ids text[], d_amounts bigint[],
  d_crashes bigint[], d_channels bigint[], d_prompts bigint[], d_completions bigint[], d_times bigint[], d_models text[],
  d_requests text[], user_ids bigint[], token_ids bigint[], channel_ids bigint[],
  s_ids text[], s_users int[], s_tokens int[], s_channels int[], s_charges bigint[], s_flags int[], s_times bigint[],
  l_settles int[], log_rows jsonb, s_more jsonb,
  x_extends int, x_ids text[], x_users int[], x_tokens int[], x_amounts bigint[], x_minimums bigint[], x_crashes bigint[],
  x_channels bigint[], x_prompts bigint[], x_completions bigint[], x_nodes text[], x_times bigint[], x_models text[],
  x_requests text[], x_more jsonb,
  out s_charged bigint[], out x_taken bigint[], out answers jsonb) language plpgsql as $$
declare
  written int;
begin
  perform 1 from users where id = any(user_ids) order by id for no key update;
  perform 1 from tokens where id = any(token_ids) order by id for no key update;
  update leases l set amount = l.amount - d.drawn, version = l.version + 1
    from unnest(l_ids, l_versions, l_drawn) as d(id, version, drawn)
    where l.id = d.id and l.version = d.version and l.amount >= d.drawn;
  get diagnostics written = row_count;
  if written <> cardinality(l_ids) then
    raise exception 'a lease is gone' using errcode = 'TG002';
  end if;
  insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
    token_limited, channel_id, prompt_tokens, completion_tokens)
  select d.id, l.user_id, l.token_id, d.amount, d.crash, l.node_id, d.at, d.model, d.request, l.token_limited,
    coalesce(d.channel, 0), coalesce(d.prompt, 0), coalesce(d.completion, 0)
  from unnest(d_leases, d_ids, d_amounts, d_crashes, d_channels, d_prompts, d_completions, d_times, d_models, d_requests)
    as d(lease, id, amount, crash, channel, prompt, completion, at, model, request), leases l where l.id = d.lease;
  select b.s_charged, b.x_taken, b.answers into s_charged, x_taken, answers
    from tollgate_batch(user_ids, token_ids, channel_ids, s_ids, s_users, s_tokens, s_channels, s_charges, s_flags, s_times,
      l_settles, log_rows, s_more, x_extends, x_ids, x_users, x_tokens, x_amounts, x_minimums, x_crashes, x_channels,
      x_prompts, x_completions, x_nodes, x_times, x_models, x_requests, x_more) b;
end $$`

/** The functions of leases, in the order in which they can be installed. */
export const leaseFunctions: readonly string[] = [takeLease, leasedFunction, mixedFunction]

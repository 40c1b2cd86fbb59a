import { insertLogs } from './log-insert.ts'

/**
 * A statement in two forms, one for a single row and one for several rows. Most batches change a single user, token and
 * channel, for which a join with a list would take twice the time. `sum` returns the expression for one of the sums of
 * a row.
 */
function forEachRow(
  count: string,
  ids: string,
  table: string,
  statement: (sum: (name: string) => string, source: string, id: string) => string,
  lists: Readonly<Record<string, string>>,
): string {
  const names = Object.keys(lists)
  const source = `from unnest(${[ids, ...Object.values(lists)].join(', ')}) as d(${['id', ...names].join(', ')})`
  return `
    if ${count} = 1 then
      ${statement((name) => `${lists[name]}[1]`, '', `${ids}[1]`)};
    elsif ${count} > 1 then
      perform 1 from ${table} where id = any(${ids}) order by id for no key update;
      ${statement((name) => `d.${name}`, source, 'd.id')};
    end if;
    get diagnostics written = row_count;
    if written <> ${count} then
      raise exception 'not a simple batch' using errcode = 'TG001';
    end if;`
}

/**
 * Updates the amounts charged in the current day and month. If another batch has already charged the row at a later
 * time, `spent_at` keeps that time.
 */
const spent = (row: string, charged: string) => `
        spent_today = ${charged} + case when ${row}.spent_at >= day_start then ${row}.spent_today else 0 end,
        spent_month = ${charged} + case when ${row}.spent_at >= month_start then ${row}.spent_month else 0 end,
        spent_at = greatest(${row}.spent_at, now_s)`

const userHolds = forEachRow(
  'u_count',
  'user_ids',
  'users',
  (sum, source, id) => `update users u set quota = u.quota - ${sum('need')} ${source}
        where u.id = ${id} and u.quota >= ${sum('need')}`,
  { need: 'u_needs' },
)

const userSettles = forEachRow(
  'u_count',
  'user_ids',
  'users',
  (
    sum,
    source,
    id,
  ) => `update users u set quota = u.quota + ${sum('back')} - ${sum('need')}, used_quota = u.used_quota + ${sum('charged')},
        request_count = u.request_count + ${sum('requests')}, unlogged_quota = u.unlogged_quota + ${sum('unlogged')},
        ${spent('u', sum('charged'))} ${source}
        where u.id = ${id} and (${sum('need')} = 0 or u.quota + ${sum('back')} >= ${sum('need')})`,
  { back: 'u_backs', need: 'u_needs', charged: 'u_charged', requests: 'u_requests', unlogged: 'u_unlogged' },
)

const tokenHolds = forEachRow(
  't_count',
  'token_ids',
  'tokens',
  (
    sum,
    source,
    id,
  ) => `update tokens t set remain_quota = t.remain_quota - case when t.unlimited_quota then 0 else ${sum('need')} end ${source}
        where t.id = ${id} and (t.unlimited_quota or t.remain_quota >= ${sum('need')})`,
  { need: 't_needs' },
)

const tokenSettles = forEachRow(
  't_count',
  'token_ids',
  'tokens',
  (
    sum,
    source,
    id,
  ) => `update tokens t set remain_quota = t.remain_quota + case when t.unlimited_quota then 0 else ${sum('back')} - ${sum('need')} end,
        granted_quota = t.granted_quota + case when t.unlimited_quota then ${sum('charged')} else 0 end,
        used_quota = t.used_quota + ${sum('charged')}, unlogged_quota = t.unlogged_quota + ${sum('unlogged')},
        accessed_time = greatest(t.accessed_time, ${sum('accessed')}),
        ${spent('t', sum('charged'))} ${source}
        where t.id = ${id} and (t.unlimited_quota or ${sum('need')} = 0 or t.remain_quota + ${sum('back')} >= ${sum('need')})`,
  { back: 't_backs', need: 't_needs', charged: 't_charged', unlogged: 't_unlogged', accessed: 't_times' },
)

const channelSettles = forEachRow(
  'c_count',
  'channel_ids',
  'channels',
  (
    sum,
    source,
    id,
  ) => `update channels c set used_quota = c.used_quota + ${sum('charged')}, unlogged_quota = c.unlogged_quota + ${sum('unlogged')}
        ${source} where c.id = ${id} and c.capped = 0`,
  { charged: 'c_charged', unlogged: 'c_unlogged' },
)

const endedHold = (id: string, held: string) => `h.id = ${id} and h.amount = ${held} and h.counted = 0
        and t.id = h.token_id and h.token_limited <> t.unlimited_quota`

/**
 * Deletes the holds that end. Each hold must have the amount that the process which made it expects. The rows of the
 * users are locked, so no other transaction can end these holds.
 */
const endHolds = `
    if s_count = 1 then
      delete from holds h using tokens t where ${endedHold('s_ids[1]', 's_helds[1]')};
    else
      delete from holds h using unnest(s_ids, s_helds) as d(id, held), tokens t where ${endedHold('d.id', 'd.held')};
    end if;
    get diagnostics written = row_count;
    if written <> s_count then
      raise exception 'not a simple batch' using errcode = 'TG001';
    end if;`

const inserted = (list: (name: string) => string) => `
      insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
        token_limited, channel_id, prompt_tokens, completion_tokens)
      select ${['ids', 'users', 'tokens', 'amounts', 'crashes', 'nodes', 'times', 'models', 'requests'].map(list).join(', ')},
        not t.unlimited_quota, ${['channels', 'prompts', 'completions'].map((name) => `coalesce(${list(name)}, 0)`).join(', ')}
      from tokens t`

const addHolds = `
  if x_count = 1 then
    ${inserted((name) => `x_${name}[1]`)} where t.id = x_tokens[1];
  elsif x_count > 1 then
    ${inserted((name) => `x_${name}[n]`)}, generate_series(1, x_count) n where t.id = x_tokens[n];
  end if;`

/** The parameters of `tollgate_quick`, which are also the first parameters of `tollgate_leased`. */
const quickParameters = `
  u_count int, user_ids bigint[], u_backs bigint[], u_needs bigint[], u_charged bigint[], u_requests bigint[], u_unlogged bigint[],
  t_count int, token_ids bigint[], t_backs bigint[], t_needs bigint[], t_charged bigint[], t_unlogged bigint[], t_times bigint[],
  c_count int, channel_ids bigint[], c_charged bigint[], c_unlogged bigint[],
  s_count int, s_ids text[], s_helds bigint[], l_charges bigint[], log_rows jsonb,
  x_count int, x_ids text[], x_users bigint[], x_tokens bigint[], x_amounts bigint[], x_crashes bigint[], x_channels bigint[],
  x_prompts bigint[], x_completions bigint[], x_nodes text[], x_times bigint[], x_models text[], x_requests text[]`

/** The parts of a function for simple batches. */
interface SimpleBatch {
  name: string
  /** Additional parameters, after those of `tollgate_quick`. */
  more?: string
  /** A condition that is true if the batch ends no call. */
  endsNone: string
  /**
   * True if all calls that the batch ends have a row in `holds`, and the batch changes the rows of all its accounts.
   */
  isPlain: boolean
  /** Statements that run before the new holds are written. */
  before?: string
}

/** The text of a function that applies a simple batch. */
export function simpleBatch({ name, more = '', endsNone, isPlain, before = '' }: SimpleBatch): string {
  const part = (count: string, text: string) => (isPlain ? text : `if ${count} > 0 then${text}\n    end if;`)
  return `
create or replace function ${name}(${quickParameters}${more})
returns void language plpgsql as $$
declare
  now_s bigint;
  day_start bigint;
  month_start bigint;
  written int;
begin
  if ${endsNone} then
    ${part('u_count', userHolds)}
    ${part('t_count', tokenHolds)}
  else
    now_s := floor(extract(epoch from clock_timestamp()))::bigint;
    day_start := now_s - now_s % 86400;
    month_start := extract(epoch from date_trunc('month', to_timestamp(now_s) at time zone 'UTC'))::bigint;
    ${part('u_count', userSettles)}
    ${part('t_count', tokenSettles)}
    if c_count > 0 then
    ${channelSettles}
    end if;
    ${part('s_count', endHolds)}
    if log_rows is not null then
      ${insertLogs('l_charges', { quota: 'l.n' })}
    end if;
  end if;${before}
  ${addHolds}
end $$`
}

/**
 * Applies a batch in which nothing has to be refused, as in nearly every batch. All holds get their whole amount, and
 * all settles find their hold with the amount that the process which made it expects. The caller has added up the
 * changes to each user, token and channel, so the function needs only a few statements. Rows are locked in the order of
 * `tollgate_batch`.
 *
 * The statements that write the amounts also check them. The function raises TG001 and changes nothing if a balance
 * does not cover the sum of the holds, if a hold does not have the expected amount, or if a channel has caps. The
 * caller then uses `tollgate_batch`. It is enough to check the sum of the holds: a balance that covers the sum covers
 * each hold.
 */
export const quickFunction = simpleBatch({ name: 'tollgate_quick', endsNone: 's_count = 0', isPlain: true })

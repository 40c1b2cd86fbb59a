import { sql } from 'kysely'
import { createCoverTimes } from '../../server/store/logs/partitions/add-months.ts'
import type { Store } from '../../server/store/store.ts'
import type { Token } from './seed.ts'

const daySeconds = 86_400
const rowsPerStatement = 250_000

interface Rows {
  /** Epoch seconds of the first row. */
  start: number
  days: number
  /** The rows to add, counted from 0, `to` excluded. */
  from: number
  to: number
  /** The number of all rows. */
  rows: number
}

/**
 * Adds log rows like those of `seed`, but lets PostgreSQL generate them, because sending the values of millions of rows
 * would take hours.
 */
export async function fillPostgres(store: Store, tokens: readonly Token[], all: Rows): Promise<void> {
  const cover = createCoverTimes(all.start + all.days * daySeconds)
  await store.write((trx) =>
    cover(
      trx,
      Array.from({ length: all.days }, (_, day) => all.start + day * daySeconds),
    ),
  )
  const list = JSON.stringify(tokens.map(({ id, name, userId, models }) => ({ id, name, user_id: userId, models })))
  for (let from = all.from; from < all.to; from += rowsPerStatement) {
    const to = Math.min(all.to, from + rowsPerStatement)
    await store.write(async (trx) => {
      await sql`select setseed(${from / all.rows})`.execute(trx)
      await insertRows(list, { ...all, from, to }).execute(trx)
    })
  }
}

const insertRows = (tokens: string, { start, days, from, to, rows }: Rows) => sql`
  insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens,
    completion_tokens, channel_id, request_id, elapsed_time, is_stream, token_id, first_byte_time, cached_tokens, outcome,
    attempts)
  with known as materialized (
    select row_number() over (order by id) as place, count(*) over () as of_all, *
    from jsonb_to_recordset(${tokens}::jsonb) as t(id bigint, name text, user_id bigint, models jsonb)
  ),
  dice as materialized (
    select n, n * ${days}::float8 / ${rows}::float8 as place, 1 + floor(power(random(), 2.5) * ${JSON.parse(tokens).length}::int)::bigint as token,
      random() < 0.99 as is_call, floor(power(random(), 2) * 8000)::bigint as prompt,
      floor(power(random(), 2) * 2000)::bigint as completion, random() as model_dice, random() as channel_dice,
      random() as outcome_dice, random() as other_dice
    from generate_series(${from}::bigint, ${to - 1}::bigint) n
  ),
  rows as (
    select d.*, k.id as token_id, k.name, k.user_id,
      k.models ->> floor(d.model_dice * jsonb_array_length(k.models))::int as model,
      ${start}::bigint + floor((d.place - 0.12 * sin(2 * pi() * (d.place - floor(d.place)))) * ${daySeconds})::bigint as at
    from dice d join known k on k.place = d.token
  )
  select user_id, at, case when is_call then 2 else 3 end,
    case when is_call then 'ratio: 1.25 × 4 × 1' else 'quota set from ' || prompt || ' to ' || completion end,
    'user-' || user_id, case when is_call then name else '' end, case when is_call then model else '' end,
    case when is_call then prompt + 4 * completion else 0 end, case when is_call then prompt else 0 end,
    case when is_call then completion else 0 end,
    case when is_call then substr(model, 7)::bigint % 5 * 2 + case when channel_dice < 0.3 then 2 else 1 end else 0 end,
    to_char(to_timestamp(at - 5) at time zone 'UTC', 'YYYYMMDDHH24MISS') || lpad(floor(other_dice * 1e15)::bigint::text, 17, '0'),
    case when is_call then 200 + floor(power(model_dice, 2) * 20000)::bigint else 0 end, other_dice < 0.6,
    case when is_call then token_id else 0 end, case when is_call then 100 + floor(other_dice * 1500)::bigint else 0 end,
    case when channel_dice > 0.8 then prompt / 2 else 0 end,
    case when not is_call then '' when outcome_dice < 0.98 then 'complete' when outcome_dice < 0.99 then 'aborted' else 'failed' end,
    ''
  from rows order by n`

import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { UsageStateTable } from '../schema/usage-tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Store, Trx } from '../store.ts'
import { addServiceFailures } from './service-failures.ts'
import {
  dayHours,
  dimensions,
  figureColumns,
  figureOfRow,
  hourSeconds,
  type SeriesKind,
  seriesKinds,
  weekDays,
} from './usage-series.ts'

/**
 * The number of log rows that are counted in one transaction. On SQLite, calls must wait for the transaction before
 * they can be charged. On PostgreSQL, they need not wait.
 */
const rowsPerStep = { sqlite: 1000, postgres: 5000 }

const names = (columns: readonly string[], prefix = '') => sql.raw(columns.map((name) => prefix + name).join(', '))
const hourOfRow = sql.raw(`l.created_at / ${hourSeconds}`)
const dayOf = (slot: string) => sql.raw(`${slot} / ${dayHours}`)
const daySeconds = hourSeconds * dayHours

const kindNames = Object.keys(seriesKinds) as SeriesKind[]

/** The log rows that are not counted in hours and days yet. */
export interface UsageBacklog {
  /** The approximate number of these log rows. The actual number may be lower, but not higher. */
  rows: number
  /** Epoch seconds of the last rollup. */
  rolledUpAt: number
}

export async function usageBacklog({ read }: Store): Promise<UsageBacklog> {
  const { rows } = await sql<UsageBacklog>`
    select coalesce((select max(id) from logs), 0) - folded_to as rows, folded_at as "rolledUpAt" from usage_state
  `.execute(read)
  return rows[0] ?? { rows: 0, rolledUpAt: 0 }
}

/**
 * Adds the existing log rows to the sums of their hour and day, in transactions of `stepRows` rows. The sums and the id
 * up to which rows are counted change together, so a query gets the same result before, during and after a rollup.
 */
export async function rollUpUsage(
  store: Store,
  nowSeconds: number,
  stepRows = rowsPerStep[store.dialect],
): Promise<void> {
  const upTo = await decidedLogId(store)
  while (upTo !== undefined) {
    const more = await store.write(async (trx) => {
      const state = await lockUsage(trx)
      if (state.folded_to >= upTo) return false
      const to = await stepEnd(trx, { from: state.folded_to, upTo, rows: stepRows })
      await stage(trx, sql`l.id > ${state.folded_to} and l.id <= ${to}`)
      for (const kind of kindNames) await addHours(trx, kind)
      await sql`insert into usage_dates select distinct ${dayOf('slot')} from usage_fold where true on conflict do nothing`.execute(
        trx,
      )
      await addLateRows(trx, state)
      await addServiceFailures(trx, state.folded_to, to)
      const first_slot = await firstSlot(trx)
      await sql`delete from usage_fold`.execute(trx)
      await trx.updateTable('usage_state').set({ folded_to: to, folded_at: nowSeconds, first_slot }).execute()
      return to < upTo
    })
    if (!more) break
    await clearWorkingTables(store)
  }
  await sumUp(store, 'days', Math.floor(nowSeconds / daySeconds))
  await sumUp(store, 'weeks', Math.floor(nowSeconds / daySeconds / weekDays))
}

/**
 * Vacuums the working tables. On PostgreSQL, rows that a step has deleted stay in the tables until a vacuum, and the
 * next step has to skip them. After a single step, PostgreSQL's own vacuum is early enough. In a series of hundreds of
 * steps, each step would be slower than the one before.
 */
async function clearWorkingTables(store: Store): Promise<void> {
  if (store.dialect === 'postgres') await sql`vacuum usage_fold, usage_part`.execute(store.read)
}

/** The periods that are summed up once they are over: days from hours, weeks from days. */
const grains = {
  days: { table: 'usage_days', to: 'days_to', add: addDay, daysEach: 1 },
  weeks: { table: 'usage_weeks', to: 'weeks_to', add: addWeek, daysEach: weekDays },
} as const

/**
 * Sums up the slots (days or weeks) before `current`, each in its own transaction. `addLateRows` adds rows that are
 * counted after their slot was summed up.
 */
async function sumUp(store: Store, name: keyof typeof grains, current: number): Promise<void> {
  const { to, add, daysEach } = grains[name]
  for (;;) {
    const more = await store.write(async (trx) => {
      const { [to]: done } = await lockUsage(trx)
      const next = await trx
        .selectFrom('usage_dates')
        .select('day')
        .where('day', '>=', done * daysEach)
        .orderBy('day')
        .limit(1)
        .executeTakeFirst()
      // Empty slots are skipped in one step.
      const slot = Math.min(current, next ? Math.floor(next.day / daysEach) : current)
      if (slot < current) await add(trx, slot)
      const end = Math.min(current, slot + 1)
      if (end > done)
        await trx
          .updateTable('usage_state')
          .set({ [to]: end })
          .execute()
      return end < current
    })
    if (!more) return
  }
}

/**
 * The highest id up to which all log rows have been committed or rolled back; undefined if it cannot be determined at
 * the moment.
 */
export async function decidedLogId(store: Store): Promise<number | undefined> {
  const { rows } =
    store.dialect === 'postgres'
      ? await sql<{ id: number | null }>`select tollgate_decided_log_id() as id`.execute(store.read)
      : // SQLite has one writer, and each new row gets a higher id, so no row with a lower id can be added.
        await sql<{ id: number | null }>`select max(id) as id from logs`.execute(store.read)
  return rows[0]?.id ?? undefined
}

/**
 * Locks and reads the state of the rollup. No other transaction can count or uncount log rows until this transaction
 * ends.
 */
export async function lockUsage(trx: Trx): Promise<UsageStateTable> {
  return trx
    .selectFrom('usage_state')
    .selectAll()
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirstOrThrow()
}

async function stepEnd(trx: Trx, step: { from: number; upTo: number; rows: number }): Promise<number> {
  const { rows } = await sql<{ id: number | null }>`
    select max(id) as id from (
      select id from logs where id > ${step.from} and id <= ${step.upTo} order by id limit ${step.rows}
    ) step`.execute(trx)
  return rows[0]?.id ?? step.upTo
}

/**
 * Stages the log rows that match a condition: writes their sums, by hour and all dimensions, to the working table
 * `usage_fold`.
 */
async function stage(trx: Trx, which: RawBuilder<unknown>): Promise<void> {
  const sums = sql.raw(figureColumns.map((name) => `sum(${figureOfRow[name]})`).join(', '))
  await sql`
    insert into usage_fold (slot, ${names(dimensions)}, ${names(figureColumns)}, log_rows, first_id, last_id)
    select ${hourOfRow}, ${names(dimensions, 'l.')}, ${sums}, count(*), min(l.id), max(l.id)
    from logs l where ${which} group by ${hourOfRow}, ${names(dimensions, 'l.')}`.execute(trx)
}

const summed = (columns: readonly string[], prefix: string) =>
  columns.map((name) => `cast(sum(${prefix}${name}) as bigint) as ${name}`).join(', ')
const added = (table: string, columns: readonly string[]) =>
  columns.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')

const wider = `
  first_id = case when excluded.first_id < usage_hours.first_id then excluded.first_id else usage_hours.first_id end,
  last_id = case when excluded.last_id > usage_hours.last_id then excluded.last_id else usage_hours.last_id end`

/** The first hour of the staged rows and of the rows that were counted before. */
async function firstSlot(trx: Trx): Promise<number | null> {
  const { rows } = await sql<{ slot: number | null }>`
    select min(slot) as slot from (select slot from usage_fold union all select first_slot from usage_state) counted
  `.execute(trx)
  return rows[0]?.slot ?? null
}

/** Adds the staged rows to the hourly sums of all series of a kind. Creates the series that do not exist yet. */
async function addHours(trx: Trx, kind: SeriesKind): Promise<void> {
  hourStatements[kind] ??= compiledHours(trx, kind)
  for (const statement of hourStatements[kind]) await trx.executeQuery(statement)
}

/**
 * The statements are cached, because building their text takes as long as running them on a few hundred rows. The text
 * is the same for SQLite and PostgreSQL.
 */
const hourStatements: Partial<Record<SeriesKind, readonly CompiledQuery[]>> = {}

function compiledHours(trx: Trx, kind: SeriesKind): readonly CompiledQuery[] {
  const columns = names(seriesKinds[kind])
  const newSeries = sql`
    insert into usage_series (kind, ${columns}) select distinct ${sql.lit(kind)}, ${columns} from usage_fold f
    where ${seriesOf(kind)} is null`
  const hours = sql`
    insert into usage_hours (day, series_id, slot, ${names(figureColumns)}, log_rows, first_id, last_id)
    select ${dayOf('slot')}, series_id, slot, ${names(figureColumns)}, log_rows, first_id, last_id
    from (${partsOf(kind)}) part where true
    on conflict (day, series_id, slot) do update set ${sql.raw(added('usage_hours', [...figureColumns, 'log_rows']))}, ${sql.raw(wider)}`
  return [newSeries.compile(trx), hours.compile(trx)]
}

/** The staged rows, grouped by the series of a kind. All these series already exist. */
function partsOf(kind: SeriesKind): RawBuilder<unknown> {
  const columns = names(seriesKinds[kind])
  const rows = sql.raw(
    `${summed(figureColumns, '')}, ${summed(['log_rows'], '')}, min(first_id) as first_id, max(last_id) as last_id`,
  )
  return sql`
    select ${seriesOf(kind)} as series_id, f.slot, ${names(figureColumns, 'f.')}, f.log_rows, f.first_id, f.last_id
    from ${kind === 'call' ? sql`usage_fold` : sql`(select slot, ${columns}, ${rows} from usage_fold group by slot, ${columns})`} f`
}

/**
 * Writes the staged rows, grouped by the series of a kind, to the working table `usage_part`, so that several
 * statements can read them.
 */
async function splitBySeries(trx: Trx, kind: SeriesKind): Promise<void> {
  await sql`
    insert into usage_part (series_id, slot, ${names(figureColumns)}, log_rows, first_id, last_id) ${partsOf(kind)}
  `.execute(trx)
}

/** Adds late rows to their day or week. A late row is a staged row whose day or week has already been summed up. */
async function addLateRows(trx: Trx, state: UsageStateTable): Promise<void> {
  const { rows } = await sql<{ slot: number | null }>`select min(slot) as slot from usage_fold`.execute(trx)
  const first = rows[0]?.slot ?? Number.POSITIVE_INFINITY
  for (const { table, to, daysEach } of Object.values(grains)) {
    const hours = daysEach * dayHours
    const end = state[to] * hours
    if (first >= end) continue
    const slot = sql.raw(`slot / ${hours}`)
    for (const kind of kindNames) {
      await splitBySeries(trx, kind)
      await sql`
        insert into ${sql.table(table)} (series_id, slot, ${names(figureColumns)})
        select series_id, ${slot}, ${sumsOfAll} from usage_part where slot < ${end}
        group by series_id, ${slot}
        on conflict (series_id, slot) do update set ${sql.raw(added(table, figureColumns))}`.execute(trx)
      if (table === 'usage_days')
        await addToSeries(
          trx,
          sql`select series_id, ${sumsOfAll} from usage_part where slot < ${end} group by series_id`,
        )
      await sql`delete from usage_part`.execute(trx)
    }
  }
}

const sumsOfAll = sql.raw(summed(figureColumns, ''))

/** Adds rows with a `series_id` and figures to the totals of these series. */
async function addToSeries(trx: Trx, rows: RawBuilder<unknown>): Promise<void> {
  const raised = figureColumns.map((name) => `${name} = usage_series.${name} + more.${name}`)
  await sql`
    update usage_series set ${sql.raw(raised.join(', '))} from (${rows}) more where usage_series.id = more.series_id
  `.execute(trx)
}

async function addDay(trx: Trx, day: number): Promise<void> {
  await putInOrder(trx, 'usage_hours', sql`day = ${day}`)
  await sql`
    insert into usage_days (series_id, slot, ${names(figureColumns)})
    select series_id, day, ${sumsOfAll} from usage_hours where day = ${day} group by day, series_id`.execute(trx)
  await addToSeries(trx, sql`select series_id, ${sumsOfAll} from usage_hours where day = ${day} group by series_id`)
}

async function addWeek(trx: Trx, week: number): Promise<void> {
  const [from, to] = [week * weekDays, (week + 1) * weekDays]
  await putInOrder(trx, 'usage_days', sql`slot >= ${from} and slot < ${to}`)
  await sql`
    insert into usage_weeks (series_id, slot, ${names(figureColumns)})
    select s.id, ${sql.lit(week)}, ${sql.raw(summed(figureColumns, 'u.'))} from usage_series s cross join usage_days u
    where u.series_id = s.id and u.slot >= ${from} and u.slot < ${to} group by s.id`.execute(trx)
}

/**
 * Rewrites rows so that the rows of a series are adjacent. PostgreSQL stores rows in the order in which they are
 * written, which is hour by hour. A query about one series would have to read each of its rows from another page. On
 * SQLite, rows are always in the order of their key.
 */
async function putInOrder(trx: Trx, table: 'usage_hours' | 'usage_days', which: RawBuilder<unknown>): Promise<void> {
  if (!needsRowLocks(trx)) return
  const into = sql.table(table)
  await sql`
    with taken as (delete from ${into} where ${which} returning *)
    insert into ${into} select * from taken order by series_id, slot`.execute(trx)
}

/**
 * Subtracts log rows that are about to be deleted from the numbers of existing rows (`log_rows`). The sums of usage are
 * not changed. Call this in the transaction of the deletion, after `lockUsage`, and only for counted rows.
 */
export async function forgetRows(trx: Trx, ids: readonly number[]): Promise<void> {
  await stage(trx, sql`l.id in (${sql.join(ids)})`)
  for (const kind of kindNames) {
    await splitBySeries(trx, kind)
    await sql`
      update usage_hours set log_rows = usage_hours.log_rows - gone.log_rows from usage_part gone
      where usage_hours.day = ${dayOf('gone.slot')} and usage_hours.series_id = gone.series_id
        and usage_hours.slot = gone.slot`.execute(trx)
    await sql`delete from usage_part`.execute(trx)
  }
  await sql`delete from usage_fold`.execute(trx)
}

/**
 * Records that no log rows of these hours (since 1970, end exclusive) exist any more, by setting `log_rows` to 0. The
 * sums of usage are not changed. Call this in the transaction of the deletion, after `lockUsage`, and only if all rows
 * of the hours are counted.
 */
export async function forgetHours(trx: Trx, { from, to }: { from: number | undefined; to: number }): Promise<void> {
  await sql`
    update usage_hours set log_rows = 0
    where day <= ${Math.floor((to - 1) / dayHours)} and slot < ${to} and log_rows > 0
      ${from === undefined ? sql`` : sql`and day >= ${Math.floor(from / dayHours)} and slot >= ${from}`}`.execute(trx)
}

/**
 * The id of the series of a row `f`, as a subquery that compares all columns of the unique key. It is not a join,
 * because PostgreSQL's planner may expect few rows if its statistics are outdated, and a join would then read all
 * series for each row.
 */
function seriesOf(kind: SeriesKind): RawBuilder<unknown> {
  const columns: readonly string[] = seriesKinds[kind]
  const empty = (column: string) => (column.endsWith('name') ? "''" : '0')
  const equal = dimensions.map((column) => `s.${column} = ${columns.includes(column) ? `f.${column}` : empty(column)}`)
  return sql.raw(`(select s.id from usage_series s where ${[`s.kind = '${kind}'`, ...equal].join(' and ')})`)
}

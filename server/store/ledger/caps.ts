import { type Selectable, sql } from 'kysely'
import { type CapMetric, type CapOwner, type CapWindow, capSteps } from '../../../contract/caps.ts'
import { patternOf } from '../../lib/model-pattern.ts'
import type { CapsTable } from '../schema/cap-tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Store, Trx } from '../store.ts'
import { stepsKept, windowStart } from './cap-windows.ts'

export type CapRow = Pick<
  Selectable<CapsTable>,
  'id' | 'owner' | 'owner_id' | 'metric' | 'period' | 'models' | 'zone' | 'most' | 'raise_by' | 'raise_until'
>

/** A cap as an admin sets it. */
export interface CapWanted {
  owner: CapOwner
  metric: CapMetric
  period: CapWindow
  models: string
  zone: string
  most: number
  raise_by: number
  raise_until: number
}

const columns = [
  'id',
  'owner',
  'owner_id',
  'metric',
  'period',
  'models',
  'zone',
  'most',
  'raise_by',
  'raise_until',
] as const

const ownerKinds = ['channel', 'key'] as const

/** The caps of a channel and of its keys. */
export function capsOfChannel(db: Db, channelId: number): Promise<CapRow[]> {
  return capsOfChannels(db, [channelId])
}

/** The caps of several channels. */
export function capsOfChannels(db: Db, channelIds: readonly number[]): Promise<CapRow[]> {
  if (channelIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('caps')
    .select(columns)
    .where('owner_id', 'in', [...channelIds])
    .where('owner', 'in', ownerKinds)
    .orderBy('id')
    .execute()
}

/**
 * True if the database has a time zone with this name. Always true on SQLite, where the process calculates the windows.
 */
export async function knowsZone(trx: Trx, name: string): Promise<boolean> {
  if (!needsRowLocks(trx)) return true
  const { rows } = await sql`select 1 from pg_timezone_names where name = ${name}`.execute(trx)
  return rows.length > 0
}

/** All caps of channels and keys. */
export function allCaps(db: Db): Promise<CapRow[]> {
  return db.selectFrom('caps').select(columns).where('owner', 'in', ownerKinds).orderBy('id').execute()
}

/** A key for comparing caps. Two caps with the same key count the same calls. */
const sameness = ({ owner, metric, period, models }: Pick<CapRow, 'owner' | 'metric' | 'period' | 'models'>) =>
  [owner, metric, period, models].join('\n')

/**
 * Replaces the caps of a channel, which must be locked. A cap that counts the same calls as an existing cap takes over
 * its counts, even if the time zone differs. A new cap of a channel starts with the calls that are open; a new cap of
 * keys starts at zero.
 */
export async function saveCaps(trx: Trx, channelId: number, wanted: readonly CapWanted[], now: number): Promise<void> {
  const before = new Map((await capsOfChannel(trx, channelId)).map((cap) => [sameness(cap), cap]))
  const added: CapWanted[] = []
  for (const cap of wanted) {
    const known = before.get(sameness(cap))
    before.delete(sameness(cap))
    if (!known) {
      added.push(cap)
      continue
    }
    const { most, raise_by, raise_until, zone } = cap
    await trx.updateTable('caps').set({ most, raise_by, raise_until, zone }).where('id', '=', known.id).execute()
    if (zone !== known.zone) await carryOver(trx, known, zone, now)
  }
  await removeCaps(
    trx,
    [...before.values()].map(({ id }) => id),
  )
  for (const cap of added) await addCap(trx, channelId, cap, now)
  const has = (owner: CapOwner) => wanted.some((cap) => cap.owner === owner)
  await trx
    .updateTable('channels')
    .set({ capped: (has('channel') ? 1 : 0) + (has('key') ? 2 : 0) })
    .where('id', '=', channelId)
    .execute()
}

/**
 * Carries counts over to another time zone. The current window in the new zone gets at least the count of the current
 * window in the old zone, so that changing the zone does not free any of the cap.
 */
async function carryOver(trx: Trx, cap: CapRow, zone: string, now: number): Promise<void> {
  const [old, next] = [windowStart(cap, now), windowStart({ ...cap, zone }, now)]
  if (old === next) return
  const rows = await trx
    .selectFrom('cap_counts')
    .select(['part', 'start', 'used'])
    .where('cap_id', '=', cap.id)
    .where('start', 'in', [old, next])
    .execute()
  for (const { part, used } of rows.filter((row) => row.start === old)) {
    const there = rows.find((row) => row.part === part && row.start === next)?.used ?? 0
    const more = Math.max(0, used - there)
    await addCount(trx, { cap_id: cap.id, part, start: next }, more)
    await trx
      .updateTable('caps')
      .set((eb) => ({ unlogged: eb('unlogged', '+', more) }))
      .where('id', '=', cap.id)
      .execute()
  }
}

async function addCount(trx: Trx, at: { cap_id: number; part: string; start: number }, more: number): Promise<void> {
  await trx
    .insertInto('cap_counts')
    .values({ ...at, used: more })
    .onConflict((conflict) =>
      conflict.columns(['cap_id', 'part', 'start']).doUpdateSet((eb) => ({ used: eb('cap_counts.used', '+', more) })),
    )
    .execute()
}

async function addCap(trx: Trx, channelId: number, cap: CapWanted, now: number): Promise<void> {
  const { last } = await trx
    .selectFrom('logs')
    .select((eb) => eb.fn.coalesce(eb.fn.max('id'), sql<number>`0`).as('last'))
    .executeTakeFirstOrThrow()
  const pattern = patternOf(cap.models)
  const { id } = await trx
    .insertInto('caps')
    .values({ ...cap, owner_id: channelId, pattern, first_log: Number(last) })
    .returning('id')
    .executeTakeFirstOrThrow()
  // A new cap of keys cannot count the open calls, because their holds do not record which key they use.
  if (cap.owner === 'channel') await countOpenCalls(trx, channelId, { id, ...cap, pattern }, now)
}

/**
 * Counts the open calls of a channel in a new cap. The holds need no lock: before the ledger changes a hold, it locks
 * the channel of the call.
 */
async function countOpenCalls(
  trx: Trx,
  channelId: number,
  cap: CapWanted & { id: number; pattern: string | null },
  now: number,
): Promise<void> {
  const holds = await trx
    .selectFrom('holds')
    .select(['id', 'amount', 'model_name'])
    .where('channel_id', '=', channelId)
    .execute()
  const start = windowStart(cap, now)
  for (const hold of holds) {
    if (cap.pattern !== null && !new RegExp(cap.pattern).test(hold.model_name)) continue
    const isOne = cap.metric === 'calls' || cap.metric === 'requests'
    const reserved = isOne ? 1 : cap.metric === 'tokens' ? 0 : hold.amount
    const place = { cap_id: cap.id, part: '', start }
    await trx
      .insertInto('cap_places')
      .values({ ...place, hold_id: hold.id, reserved })
      .execute()
    await addCount(trx, place, reserved)
    await trx.updateTable('holds').set({ counted: sql`counted | 8` }).where('id', '=', hold.id).execute()
  }
}

async function removeCaps(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  for (const table of ['cap_counts', 'cap_places', 'cap_waits'] as const)
    await trx
      .deleteFrom(table)
      .where('cap_id', 'in', [...ids])
      .execute()
  await trx
    .deleteFrom('caps')
    .where('id', 'in', [...ids])
    .execute()
}

/** Deletes the caps of channels that are being deleted. */
export async function forgetCapsOf(trx: Trx, channelIds: readonly number[]): Promise<void> {
  if (channelIds.length === 0) return
  const rows = await trx
    .selectFrom('caps')
    .select('id')
    .where('owner_id', 'in', [...channelIds])
    .where('owner', 'in', ownerKinds)
    .execute()
  await removeCaps(
    trx,
    rows.map(({ id }) => id),
  )
}

/** Deletes the counts of past windows. Their totals are kept in the caps' `forgotten` sums. */
export async function forgetWindows(store: Store, now: number): Promise<void> {
  const byChannel = Map.groupBy(await allCaps(store.read), ({ owner_id }) => owner_id)
  for (const [channelId, caps] of byChannel) {
    await store.write(async (trx) => {
      // Locks the channel, because the ledger changes the channel's counts only while it holds that lock.
      await trx
        .selectFrom('channels')
        .select('id')
        .where('id', '=', channelId)
        .$if(needsRowLocks(trx), (query) => query.forUpdate())
        .execute()
      for (const cap of caps) await forgetWindowsOf(trx, cap, now)
    })
  }
}

async function forgetWindowsOf(trx: Trx, cap: CapRow, now: number): Promise<void> {
  const step = capSteps[cap.period]
  const current = windowStart(cap, now)
  const keepFrom = step === undefined ? windowStart(cap, current - 1) : current - 2 * stepsKept * step
  if (cap.period === 'ever' || cap.period === 'now') return
  const gone = await trx
    .deleteFrom('cap_counts')
    .where('cap_id', '=', cap.id)
    .where('start', '<', keepFrom)
    .returning('used')
    .execute()
  if (gone.length === 0) return
  const sum = gone.reduce((total, { used }) => total + used, 0)
  await trx
    .updateTable('caps')
    .set((eb) => ({ forgotten: eb('forgotten', '+', sum) }))
    .where('id', '=', cap.id)
    .execute()
}

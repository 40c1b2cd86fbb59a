import { sql } from 'kysely'
import type { RedemptionBatch } from '../../../contract/api/redemption.ts'
import { redemptionExpired, redemptionStatus } from '../../../contract/statuses.ts'
import { startsWith } from '../statements/conditions.ts'
import type { Listed, Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'
import { statusAt } from './redemptions.ts'

const count = (which: ReturnType<typeof sql>) => sql<number>`sum(case when ${which} then 1 else 0 end)`

/**
 * The sum of quotas. It is computed in floating point, which is exact up to 2^53 and, unlike integers, cannot overflow.
 */
const worth = (which: ReturnType<typeof sql>) =>
  sql<number>`sum(cast(case when ${which} then quota else 0 end as double precision))`

/**
 * Counts codes by their name. Codes that were made together share a name. In databases of one-api and new-api, too,
 * only the name connects them.
 */
export async function listBatches(
  db: Db,
  page: Page<string>,
  { keyword, now }: { keyword: string; now: number },
): Promise<Listed<RedemptionBatch>> {
  const matching = db
    .selectFrom('redemptions')
    .$if(keyword !== '', (query) => query.where((eb) => startsWith(eb.ref('name'), keyword)))
  const is = (status: number) => sql`${statusAt(now)} = ${sql.lit(status)}`
  const direction = page.descending ? 'desc' : 'asc'
  const batches = matching
    .select((eb) => [
      'name',
      eb.fn.countAll<number>().as('made'),
      count(is(redemptionStatus.unused)).as('unused'),
      count(is(redemptionStatus.used)).as('used'),
      count(is(redemptionStatus.disabled)).as('disabled'),
      count(is(redemptionExpired)).as('expired'),
      worth(sql`true`).as('quota'),
      worth(is(redemptionStatus.used)).as('used_quota'),
      worth(is(redemptionStatus.unused)).as('outstanding_quota'),
      eb.fn.max('created_time').as('created_time'),
      eb.fn.max('redeemed_time').as('redeemed_time'),
    ])
    .groupBy('name')
  const rows = await db
    .selectFrom(batches.as('batches'))
    .selectAll()
    .orderBy(sql.ref(page.sort === 'id' ? 'created_time' : page.sort), direction)
    .orderBy('name', direction)
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const { total } = await matching
    .select((eb) => eb.fn.count<number>('name').distinct().as('total'))
    .executeTakeFirstOrThrow()
  return { rows: rows.map(({ name, ...figures }) => ({ name, ...numbersOf(figures) })), total: Number(total) }
}

/** The drivers return some sums as text. */
function numbersOf<Name extends string>(figures: Record<Name, unknown>): Record<Name, number> {
  const numbers = Object.entries(figures).map(([name, value]) => [
    name,
    Math.min(Number(value), Number.MAX_SAFE_INTEGER),
  ])
  return Object.fromEntries(numbers) as Record<Name, number>
}

/** Gives a new status to all codes of a batch that have a given status. Returns the ids of the changed codes. */
export async function switchBatch(
  trx: Trx,
  name: string,
  { from, to }: { from: number; to: number },
): Promise<number[]> {
  const rows = await trx
    .updateTable('redemptions')
    .set({ status: to })
    .where('name', '=', name)
    .where('status', '=', from)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

import { addMonthsAhead, emptyDefault } from './add-months.ts'
import { isWhole, logPartitions } from './log-partitions.ts'
import { type PatientStore, type Takeover, takeOver } from './take-over.ts'

/**
 * Maintains the partitions of the log on PostgreSQL. Turns a table that was not partitioned into a partition (see
 * `takeOver`), creates the partitions of coming months, and moves rows out of the default partition. Several nodes may
 * call this at once. Throws `lock_not_available` if the log is being read for too long. Steps that were completed by
 * then are kept.
 */
export async function keepPartitions(store: PatientStore, now: number): Promise<Takeover> {
  const takeover = await takeOver(store, now)
  if ((await logPartitions(store.read)).some(isWhole)) return takeover
  await store.write((trx) => addMonthsAhead(trx, now))
  await emptyDefault(store, now)
  return takeover
}

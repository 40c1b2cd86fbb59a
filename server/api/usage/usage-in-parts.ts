import type { Db } from '../../store/store.ts'
import { type BucketFigures, usageInBuckets } from '../../store/usage/usage-query.ts'
import type { BucketPart } from './usage-buckets.ts'

type Ask = Omit<Parameters<typeof usageInBuckets>[1], 'range' | 'bucket'>

/**
 * A metric in the buckets of each part of a range. There is one query per part, because midnight is at a different UTC
 * hour in each part.
 */
export async function usageInParts(db: Db, ask: Ask, parts: readonly BucketPart[]): Promise<BucketFigures[]> {
  const rows: BucketFigures[] = []
  for (const { from, to, unit } of parts)
    rows.push(...(await usageInBuckets(db, { ...ask, range: { from, to }, bucket: unit })))
  return rows
}

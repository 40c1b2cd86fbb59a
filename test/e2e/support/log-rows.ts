import type { Database } from 'bun:sqlite'
import { emptyLogRow } from '../../../server/store/logs/logs.ts'

/** Default values of a log row: a complete call by root without usage. */
const usual = {
  ...emptyLogRow,
  user_id: 1,
  created_at: 0,
  type: 2,
  content: '',
  username: 'root',
  outcome: 'complete',
  request: null,
}

/** Writes log rows with the given values; other fields have the values in `usual`. Times are in epoch seconds. */
export function logWriter(
  database: Database,
): (row: Partial<Record<keyof typeof usual, string | number | boolean | null>>) => void {
  const names = Object.keys(usual)
  const places = names.map(() => '?').join(', ')
  const statement = database.prepare(`insert into logs (${names.join(', ')}) values (${places})`)
  return (row) => void statement.run(...Object.values({ ...usual, ...row }))
}

/** A request that the screens' data contain, and when it began: 2025-01-01, in epoch seconds. */
export const seededRequest = '2025010100000012345678901234567'
export const seededRequestAt = Date.UTC(2025, 0, 1) / 1000

import type { Database } from 'bun:sqlite'
import { emptyLogRow } from '../../../server/store/logs/logs.ts'

/** Default values of a log row: a complete call by root without usage. */
const usual = { ...emptyLogRow, user_id: 1, created_at: 0, type: 2, content: '', username: 'root', outcome: 'complete' }

/** Writes log rows with the given values; other fields have the values in `usual`. Times are in epoch seconds. */
export function logWriter(
  database: Database,
): (row: Partial<Record<keyof typeof usual, string | number | boolean>>) => void {
  const names = Object.keys(usual)
  const places = names.map(() => '?').join(', ')
  const statement = database.prepare(`insert into logs (${names.join(', ')}) values (${places})`)
  return (row) => void statement.run(...Object.values({ ...usual, ...row }))
}

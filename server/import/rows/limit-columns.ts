import type { BulkColumns } from '../../store/imports/bulk-insert.ts'
import { integer } from '../fields.ts'
import type { SourceRow } from '../sources/source-database.ts'

const names = ['rpm_limit', 'tpm_limit', 'concurrency_limit', 'daily_budget', 'monthly_budget'] as const

/** The limit columns of users and tokens. */
export const limitColumns: BulkColumns = names.map((name) => [name, 'integer'] as const)

/** The limits of a row, in the order of `limitColumns`; 0 = no limit. */
export const limitValues = (row: SourceRow): number[] => names.map((name) => Math.max(0, integer(row, name)))

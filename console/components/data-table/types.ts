import type { ReactNode } from 'react'
import type { CsvValue } from '../../lib/csv.ts'

/** A column of a list. */
export interface Column<Row> {
  /** Also the name that the server sorts by. */
  id: string
  header: string
  cell(row: Row): ReactNode
  /** The value used for sorting in the browser and for export. Without it the column has neither. */
  value?(row: Row): CsvValue
  /** Exported instead of `value`, if `value` says less than the cell. */
  exported?(row: Row): CsvValue
  /** Whether its header sorts; needs `value`. */
  sortable?: boolean
  align?: 'end'
  /** Takes the remaining width; its cells must be truncated with an ellipsis. Not for the title. */
  grows?: boolean
  /** Width class of its skeleton; close to that of real content. */
  skeleton?: string
  /**
   * Its position on a card (600 px and less): the title, the badge beside it, or hidden. Others are lines with a label.
   */
  card?: 'title' | 'badge' | 'hide'
  /** Hidden until the user chooses it. */
  hidden?: boolean
  /** Cannot be hidden. Give it to the column that names the row. */
  required?: boolean
}

/** Something that the user can do with a row. */
export interface RowAction {
  id: string
  label: string
  icon?: ReactNode
  /** Shown as a button in the row; other actions are in its menu. Two at most. */
  primary?: boolean
  danger?: boolean
  disabled?: boolean
  hint?: string | undefined
  /** Single key that runs it while the row is the current one. */
  keys?: string
  run(): void
}

/** Something that the user can do with all selected rows, one call for each. */
export interface BulkAction<Row> {
  id: string
  label: string
  icon?: ReactNode
  danger?: boolean
  /** Rows for which it makes no sense are skipped. */
  applies?(row: Row): boolean
  /** A question asked before it starts. */
  confirm?(rows: readonly Row[]): { title: string; text?: string; typed?: string | undefined }
  run(row: Row): Promise<unknown>
  /** The page needs more input first and runs the action itself; `run` is not called. */
  open?(rows: readonly Row[]): void
}

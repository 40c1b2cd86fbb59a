import type { ReactNode } from 'react'
import type { CsvValue } from '../../lib/csv.ts'

/** A column of a list. */
export interface Column<Row> {
  /** Id of the column. The server uses the same name for sorting. */
  id: string
  header: string
  cell(row: Row): ReactNode
  /** The value for sorting in the browser and for export. Without it, the column can be neither sorted nor exported. */
  value?(row: Row): CsvValue
  /** The value to export instead of `value`, for columns whose cells show more than `value` contains. */
  exported?(row: Row): CsvValue
  /** Whether the column's header sorts the list; requires `value`. */
  sortable?: boolean
  align?: 'end'
  /** The column gets the remaining width. Its cells must be truncated with an ellipsis. Not for the title column. */
  grows?: boolean
  /** If the columns need the room, its cells take two lines, as a date and a time do. */
  wraps?: boolean
  /** The width class of the column's skeleton. It should be close to the width of real content. */
  skeleton?: string
  /**
   * The column's position on a card (600 px and less): the title, the badge beside the title, or hidden. Other columns
   * are lines with a label.
   */
  card?: 'title' | 'badge' | 'hide'
  /** The column is hidden until the user chooses it. */
  hidden?: boolean
  /** The column cannot be hidden. Set this for the column that identifies the row. */
  required?: boolean
}

/** An action for one row. */
export interface RowAction {
  id: string
  label: string
  icon?: ReactNode
  /** Shown as a button in the row, for at most two actions. Other actions are in the row's menu. */
  primary?: boolean
  danger?: boolean
  disabled?: boolean
  hint?: string | undefined
  /** Single key that runs the action while its row is the current one. */
  keys?: string
  run(): void
}

/** An action for all selected rows, with one call per row. */
export interface BulkAction<Row> {
  id: string
  label: string
  icon?: ReactNode
  danger?: boolean
  /** Whether the action applies to a row; rows to which it does not apply are skipped. */
  applies?(row: Row): boolean
  /** The question asked before the action starts. */
  confirm?(rows: readonly Row[]): { title: string; text?: string; typed?: string | undefined }
  run(row: Row): Promise<unknown>
  /** For actions that need more input first. The page then runs the action itself, and `run` is not called. */
  open?(rows: readonly Row[]): void
}

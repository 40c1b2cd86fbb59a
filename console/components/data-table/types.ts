import type { ReactNode } from 'react'
import type { CsvValue } from '../../lib/csv.ts'

/** A column of a list. */
export interface Column<Row> {
  /** Also the name the server sorts by. */
  id: string
  header: string
  cell(row: Row): ReactNode
  /** What the column is sorted by in the browser and exported as. Without it the column is neither. */
  value?(row: Row): CsvValue
  /** What is exported in place of `value`, where that says less than the cell. */
  exported?(row: Row): CsvValue
  /** Whether its header sorts; needs `value`. */
  sortable?: boolean
  align?: 'end'
  /** Takes the room that the others leave; its cells are to be cut with an ellipsis. Not for the title. */
  grows?: boolean
  /** Width of its skeleton, as a class; about that of real content. */
  skeleton?: string
  /** Its place on a card (600 px and less): the title, the badge beside it, or not shown. Others are lines with a label. */
  card?: 'title' | 'badge' | 'hide'
  /** Not shown until it is chosen. */
  hidden?: boolean
  /** Cannot be hidden. Give it to the column that names the row. */
  required?: boolean
}

/** Something that can be done with a row. */
export interface RowAction {
  id: string
  label: string
  icon?: ReactNode
  /** Stands as a button in the row; others are in its menu. Two at most. */
  primary?: boolean
  danger?: boolean
  disabled?: boolean
  hint?: string | undefined
  /** Single key that does it while the row is the current one. */
  keys?: string
  run(): void
}

/** Something that can be done with all selected rows, one call for each. */
export interface BulkAction<Row> {
  id: string
  label: string
  icon?: ReactNode
  danger?: boolean
  /** Rows it makes no sense for are left out. */
  applies?(row: Row): boolean
  /** A question before it starts. */
  confirm?(rows: readonly Row[]): { title: string; text?: string; typed?: string | undefined }
  run(row: Row): Promise<unknown>
  /** The page asks for more before it is done, and does it itself; `run` is not called. */
  open?(rows: readonly Row[]): void
}

/** A stretch of a sorted list. */
export interface Page<Column extends string> {
  offset: number
  limit: number
  sort: Column
  descending: boolean
}

/** Rows of one page and how many there are on all pages. */
export interface Listed<Row> {
  rows: Row[]
  total: number
}

import type { SetSearch } from '../../lib/use-url-state.ts'
import type { DrawerSteps } from '../ui/drawer.tsx'
import type { ListState } from './use-list.ts'

interface Peeked<Row> {
  list: ListState<Row>
  rowId(row: Row): string
  /** Id of the row that the drawer shows, from the URL. */
  peek: string
  setSearch: SetSearch<{ peek?: string | undefined }>
}

/** Steps from the row in the drawer to its neighbours on the page; undefined if the browser sorts the rows. */
export function peekSteps<Row>({ list, rowId, peek, setSearch }: Peeked<Row>): DrawerSteps | undefined {
  if (list.sortsLoaded) return undefined
  const at = list.rows.findIndex((row) => rowId(row) === peek)
  // Steps replace the history entry, so that a single "back" closes the drawer, no matter how many rows were visited.
  const way = (row: Row | undefined) => row && (() => setSearch({ peek: rowId(row) }, { replace: true }))
  return {
    previous: way(list.rows[at - 1]),
    next: at < 0 ? undefined : way(list.rows[at + 1]),
    at: at + 1,
    count: list.rows.length,
  }
}

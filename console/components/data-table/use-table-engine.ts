import {
  type ColumnDef,
  createPaginatedRowModel,
  createSortedRowModel,
  type RowSelectionState,
  rowPaginationFeature,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useCallback, useMemo, useState } from 'react'
import { pageSize } from '../../../contract/api/endpoint.ts'
import { languageTag } from '../../lib/text.ts'
import { compareValues } from './compare-values.ts'
import type { Column } from './types.ts'
import type { ListState } from './use-list.ts'

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  rowPaginationFeature,
  paginatedRowModel: createPaginatedRowModel(),
  rowSelectionFeature,
})
type Features = typeof features

interface EngineInput<Row> {
  list: ListState<Row>
  columns: readonly Column<Row>[]
  rowId(row: Row): string
  sort: string | undefined
}

/** Sorts, pages and selects the rows of a list with TanStack Table. It skips the steps that the server performs. */
export function useTableEngine<Row extends object>({ list, columns, rowId, sort }: EngineInput<Row>) {
  const [rowSelection, setRowSelection] = useState<RowSelectionState>({})
  const [narrowing, setNarrowing] = useState(list.narrowing)
  // Clears the selection, because selected rows may no longer be visible and actions must not affect invisible rows.
  if (narrowing !== list.narrowing) {
    setNarrowing(list.narrowing)
    setRowSelection({})
  }
  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<Features, Row> => ({
          id: column.id,
          accessorFn: (row) => column.value?.(row),
          // In both sort directions, rows without a value come last.
          sortUndefined: 'last',
          sortFn: (a, b, id) => compareValues(a.getValue(id), b.getValue(id), languageTag()),
        }),
      ),
    [columns],
  )
  const size = list.size ?? pageSize
  const cut = list.rows.length > size
  // These objects stay the same while their values are equal. Otherwise every render would sort and draw the rows
  // again.
  const pagination = useMemo(() => ({ pageIndex: list.page - 1, pageSize: size }), [list.page, size])
  const sorting = useMemo(
    () => (sort === undefined ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }]),
    [sort],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: list.rows,
    getRowId: rowId,
    manualSorting: !list.sortsLoaded,
    manualPagination: !cut,
    pageCount: list.pages,
    autoResetPageIndex: false,
    state: {
      rowSelection,
      pagination,
      sorting,
    },
    onRowSelectionChange: setRowSelection,
  })
  const rows = table.getRowModel().rows
  // Selects by id, because a row that is still visible may belong to the previous list.
  const select = useCallback(
    (ids: readonly string[], selected: boolean) =>
      setRowSelection((before) => {
        const after = { ...before }
        for (const id of ids) {
          if (selected) after[id] = true
          else delete after[id]
        }
        return after
      }),
    [],
  )
  const known = useMemo(() => new Map(list.rows.map((row) => [rowId(row), row])), [list.rows, rowId])
  return {
    table,
    rows,
    /** Selects or deselects rows by their ids. */
    select,
    /** The selected rows, if they are loaded. */
    selected: Object.keys(rowSelection).flatMap((id) => known.get(id) ?? []),
    clearSelection: () => setRowSelection({}),
  }
}

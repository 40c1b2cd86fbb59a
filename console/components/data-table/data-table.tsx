import { Download, RotateCw } from 'lucide-react'
import { type ReactNode, type Ref, useCallback, useDeferredValue, useEffect, useRef, useState } from 'react'
import { pageSize } from '../../../contract/api/endpoint.ts'
import { toCsv } from '../../lib/csv.ts'
import { downloadFile } from '../../lib/download.ts'
import { useText } from '../../lib/text.ts'
import type { ListSearch } from '../../lib/url-state.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { focusFirst } from './focus-first.ts'
import { useLasting } from './lasting.ts'
import { Pagination } from './pagination.tsx'
import { ResultNews } from './result-news.tsx'
import { SearchBox } from './search-box.tsx'
import { TableBody, TableHead } from './table-parts.tsx'
import type { BulkAction, Column, RowAction } from './types.ts'
import { useColumnLayout } from './use-column-layout.ts'
import type { ListState } from './use-list.ts'
import { useTableEngine } from './use-table-engine.ts'
import { useTableKeys } from './use-table-keys.ts'

export interface DataTableProps<Row extends object> {
  /** The name of the list. It is the key of the stored columns and the name of the export file. */
  name: string
  /** Describes the list to screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  list: ListState<Row>
  search: ListSearch
  setSearch: SetSearch<ListSearch>
  /** `rowId`, `rowName` and `actions` must be the same functions in every render, because a change redraws all rows. */
  rowId(row: Row): string
  /** The name of a row in button labels and questions. */
  rowName(row: Row): string
  actions?: ((row: Row) => RowAction[]) | undefined
  bulk?: readonly BulkAction<Row>[]
  /** The background of a highlighted row. A word in the row must give the reason. Must be a stable function. */
  rowTone?: ((row: Row) => 'bad' | undefined) | undefined
  /** Clicking a row opens a drawer (`?peek=id`), which the page renders. */
  peeks?: boolean
  /** Called when the pointer rests on a row, to request the contents of its drawer. Must be a stable function. */
  nearRow?: ((row: Row) => void) | undefined
  /** Label of the search box; if omitted, the list cannot be searched. */
  searchLabel?: string
  /** The filters beside the search box. `filtered` is true if any filter is set. */
  filters?: ReactNode
  filtered?: boolean
  /** Clears the search and all filters; if omitted, only the search is cleared. */
  onClearFilters?: () => void
  /** Buttons at the end of the toolbar. */
  toolbar?: ReactNode
  /** Shown when the list has no rows at all. */
  empty: ReactNode
  onRefresh?: () => void
}

/** The console's list, with sorting, paging, search, selection and actions. Its state is kept in the URL. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { name, columns, list, search, setSearch, rowId, peeks = false } = props
  const layout = useColumnLayout(name, columns)
  useNextPage(list)
  const engine = useTableEngine({ list, columns: layout.shown, rowId, sort: search.sort })
  const [current, setCurrent] = useState(-1)
  // Drawing the rows is most of the work. React defers it and can interrupt it, so that the page responds to a click
  // first.
  const drawn = useDeferredValue(engine.rows)
  const answeredAt = useDeferredValue(list.answeredAt)
  const shown = drawn.map((row) => row.original)
  const goTo = (page: number) => setSearch({ page: page > 1 ? page : undefined })
  const open = useCallback((row: Row) => peeks && setSearch({ peek: rowId(row) }), [peeks, setSearch, rowId])
  const toolbar = useRef<HTMLDivElement>(null)
  const clear = () => {
    // The button disappears together with the filters it clears, so the focus moves to the controls that narrowed the
    // list.
    focusFirst(toolbar.current?.querySelector(search.q === undefined ? '[role="group"]' : 'search') ?? toolbar.current)
    if (props.onClearFilters) props.onClearFilters()
    else setSearch({ q: undefined, page: undefined })
  }
  const exportRows = (rows: readonly Row[]) => downloadFile(`${name}.csv`, csvOf(layout.shown, rows), 'text/csv')

  useTableKeys({
    count: shown.length,
    current,
    setCurrent,
    page: list.page,
    pages: list.pages,
    goTo,
    actions: (index) => (shown[index] && props.actions ? props.actions(shown[index]) : []),
    open: (index) => shown[index] && open(shown[index]),
    toggle: (index) => drawn[index] && engine.select([drawn[index].id], !drawn[index].getIsSelected()),
  })

  return (
    <div data-list tabIndex={-1} className="outline-none">
      <Toolbar
        {...props}
        bar={toolbar}
        onExport={() => exportRows(shown)}
        chooser={<ColumnChooser layout={layout} />}
      />
      <ListBody
        {...props}
        engine={engine}
        drawn={drawn}
        answeredAt={answeredAt}
        columns={layout.shown}
        current={current}
        onOpen={open}
        onClear={clear}
      />
      {(list.pages > 1 || shown.length > 0) && (
        <Pagination
          page={list.page}
          pages={list.pages}
          total={list.total}
          size={list.size}
          onSize={list.onSize}
          onPage={goTo}
          onNear={list.prefetch}
        />
      )}
      {engine.selected.length > 0 && (
        <BulkBar
          rows={engine.selected}
          actions={props.bulk ?? []}
          onClear={engine.clearSelection}
          onDone={list.retry}
          onExport={exportRows}
        />
      )}
      <ResultNews list={list} asked={JSON.stringify({ ...search, peek: undefined })} />
    </div>
  )
}

/** Requests the next page while a user pages through a list and the browser has nothing else to do. */
function useNextPage(list: Pick<ListState<object>, 'page' | 'pages' | 'total' | 'settled' | 'prefetch'>): void {
  const { page, pages, total, settled, prefetch } = list
  const ask = useRef(prefetch)
  useEffect(() => {
    ask.current = prefetch
  })
  const next = total !== undefined && page > 1 && page < pages && settled ? page + 1 : undefined
  useEffect(() => {
    if (next === undefined) return
    const timer = setTimeout(() => ask.current(next), idleMs)
    return () => clearTimeout(timer)
  }, [next])
}

/** How long a user looks at a page before the next one is requested. */
const idleMs = 500

function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const exported = columns.filter((column) => column.value)
  return toCsv(
    exported.map((column) => column.header),
    rows.map((row) => exported.map((column) => column.exported?.(row) ?? column.value?.(row))),
  )
}

interface ToolbarProps<Row extends object> extends DataTableProps<Row> {
  bar: Ref<HTMLDivElement>
  chooser: ReactNode
  onExport(): void
}

function Toolbar<Row extends object>(props: ToolbarProps<Row>) {
  const { search, setSearch, searchLabel, filters, toolbar, list, onRefresh } = props
  const t = useText()
  const note =
    list.sortsLoaded &&
    list.size === undefined &&
    search.sort !== undefined &&
    t('table.sortedLoaded', { count: list.rows.length })
  return (
    <div ref={props.bar} className="flex flex-wrap items-center gap-2 pb-3">
      {searchLabel !== undefined && (
        <SearchBox
          value={search.q ?? ''}
          label={searchLabel}
          onSearch={(q) => setSearch({ q: q === '' ? undefined : q, page: undefined })}
          onReload={() => (search.page === undefined ? (onRefresh ?? list.retry)() : setSearch({ page: undefined }))}
        />
      )}
      {filters}
      <div className="ml-auto flex flex-wrap items-center justify-end gap-1">
        {note && <span className="px-2 text-xs text-muted max-md:hidden">{note}</span>}
        <IconButton label={t('do.refresh')} icon={<RotateCw />} onClick={onRefresh ?? list.retry} />
        {props.chooser}
        <IconButton
          label={t('table.export')}
          icon={<Download />}
          disabled={list.rows.length === 0}
          onClick={props.onExport}
        />
        {toolbar}
      </div>
    </div>
  )
}

interface BodyProps<Row extends object> extends DataTableProps<Row> {
  engine: ReturnType<typeof useTableEngine<Row>>
  /** The engine's rows, or the previous rows while the new ones are being drawn. */
  drawn: ReturnType<typeof useTableEngine<Row>>['rows']
  /** The time at which these rows arrived, in epoch milliseconds. */
  answeredAt: number
  current: number
  onOpen(row: Row): void
  onClear(): void
}

function ListBody<Row extends object>(props: BodyProps<Row>) {
  const { caption, list, engine, drawn, columns, search, setSearch, filtered = false, onClear } = props
  const t = useText()
  const slow = useLasting(list.refreshing)
  const sought = search.q !== undefined
  // If the previous result was empty, the list counts as loading, because the next result may have rows.
  const loading = list.loading || (list.rows.length === 0 && !list.settled)
  if (list.error && (!list.stale || list.rows.length === 0)) {
    return (
      <Frame>
        <ErrorState title={t('table.error')} text={list.error.message} onRetry={list.retry} busy={list.refreshing} />
      </Frame>
    )
  }
  if (!loading && list.rows.length === 0) {
    return (
      <Frame>
        {sought || filtered ? (
          <EmptyState title={t('table.empty.filtered')} text={t(emptyHint(sought, filtered))}>
            <button type="button" className="text-sm text-link underline" onClick={onClear}>
              {t(clearLabel(sought, filtered))}
            </button>
          </EmptyState>
        ) : (
          props.empty
        )}
      </Frame>
    )
  }
  return (
    <Frame busy={slow}>
      {list.error && (
        <p role="alert" className="border-b border-line bg-bad-tint px-3 py-2 text-sm text-bad">
          {list.error.message} {t('table.stale')}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region */}
      <section aria-label={t('table.region', { name: caption })} tabIndex={0} className="table-scroll rounded-lg">
        {/* Roles are explicit, because the card layout displays the table as blocks, which removes the implicit roles.
         */}
        <table
          role="table"
          className={`data-table ${list.stale ? 'opacity-60' : ''}`}
          aria-busy={loading || list.refreshing || drawn !== engine.rows}
          data-waiting={slow && !list.settled && !list.stale}
        >
          <caption className="sr-only">{caption}</caption>
          <TableHead
            columns={columns}
            engine={engine}
            sort={search.sort}
            setSearch={setSearch}
            bulk={props.bulk}
            acts={props.actions !== undefined}
          />
          <TableBody
            {...props}
            rows={loading ? undefined : drawn.length > 0 ? drawn : engine.rows}
            skeletons={list.size ?? pageSize}
            onSelect={engine.select}
          />
        </table>
      </section>
      {loading && (
        <p role="status" className="sr-only">
          {t('app.loading', { page: caption })}
        </p>
      )}
    </Frame>
  )
}

function emptyHint(sought: boolean, filtered: boolean) {
  if (!filtered) return 'table.empty.sought'
  return sought ? 'table.empty.both' : 'table.empty.filterOn'
}

function clearLabel(sought: boolean, filtered: boolean) {
  if (!filtered) return 'table.search.clear'
  return sought ? 'table.empty.clearBoth' : 'table.filters.clear'
}

function Frame({ busy = false, children }: { busy?: boolean; children: ReactNode }) {
  return (
    <div className="relative overflow-hidden rounded-lg border border-line bg-surface">
      {busy && (
        <div className="absolute inset-x-0 top-0 z-10 h-0.5 overflow-hidden" aria-hidden="true">
          <div className="h-full w-1/3 animate-[slide-bar_1s_ease-in-out_infinite] bg-accent" />
        </div>
      )}
      {children}
    </div>
  )
}

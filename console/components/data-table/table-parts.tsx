import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import { type ChangeEvent, memo, type MouseEvent as ReactMouseEvent, useCallback, useLayoutEffect, useRef } from 'react'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { ListSearch } from '../../lib/url-state.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { Checkbox } from '../ui/checkbox.tsx'
import { Skeleton } from '../ui/states.tsx'
import { RowActions } from './row-actions.tsx'
import type { BulkAction, Column, RowAction } from './types.ts'
import { useNearness } from './use-nearness.ts'
import type { useTableEngine } from './use-table-engine.ts'

type Engine<Row extends object> = ReturnType<typeof useTableEngine<Row>>
type EngineRow<Row extends object> = Engine<Row>['rows'][number]

interface HeadProps<Row extends object> {
  columns: readonly Column<Row>[]
  engine: Engine<Row>
  sort: string | undefined
  setSearch: SetSearch<ListSearch>
  bulk: readonly BulkAction<Row>[] | undefined
  /** Whether rows have actions. If so, the table has a column for them. */
  acts: boolean
}

/** The next sort order when a header is clicked: ascending, descending, then the server's order. */
function nextSort(id: string, sort: string | undefined): string | undefined {
  if (sort === id) return `-${id}`
  return sort === `-${id}` ? undefined : id
}

/** The header row of a list; sortable headers are buttons. */
export function TableHead<Row extends object>({ columns, engine, sort, setSearch, bulk, acts }: HeadProps<Row>) {
  const t = useText()
  const { table } = engine
  return (
    <thead>
      <tr role="row">
        {bulk && (
          <th role="columnheader" scope="col" className="select-cell w-10">
            <Checkbox
              aria-label={t('table.select.all')}
              className="align-middle"
              checked={table.getIsAllPageRowsSelected()}
              indeterminate={table.getIsSomePageRowsSelected()}
              onChange={(event) => table.toggleAllPageRowsSelected(event.target.checked)}
            />
          </th>
        )}
        {columns.map((column) => (
          <HeaderCell key={column.id} column={column} sort={sort} setSearch={setSearch} />
        ))}
        {acts && (
          <th role="columnheader" scope="col" className="actions-cell">
            <span className="sr-only">{t('table.actions')}</span>
          </th>
        )}
      </tr>
    </thead>
  )
}

function HeaderCell<Row>(props: { column: Column<Row>; sort: string | undefined; setSearch: SetSearch<ListSearch> }) {
  const { column, sort, setSearch } = props
  const sorted = sort === column.id ? 'ascending' : sort === `-${column.id}` ? 'descending' : 'none'
  const label = <span className="inline-block first-letter:uppercase">{column.header}</span>
  if (!column.sortable) {
    return (
      <th role="columnheader" scope="col" data-align={column.align}>
        {label}
      </th>
    )
  }
  const Icon = sorted === 'ascending' ? ArrowUp : sorted === 'descending' ? ArrowDown : ChevronsUpDown
  return (
    <th role="columnheader" scope="col" data-align={column.align} aria-sort={sorted}>
      <button
        type="button"
        className="group/sort relative inline-flex min-h-7 items-center rounded-sm [text-align:inherit] hover:text-fg"
        onClick={() => setSearch({ sort: nextSort(column.id, sort), page: undefined })}
      >
        {label}
        <Icon
          aria-hidden="true"
          // The icon is positioned beside the label. The label thus aligns with its column, and no width is reserved
          // for the icon.
          className={`absolute size-3 ${column.align === 'end' ? 'end-full me-0.5' : 'start-full ms-0.5'} ${sorted === 'none' ? 'opacity-0 group-hover/sort:opacity-70 group-focus-visible/sort:opacity-70' : ''}`}
        />
      </button>
    </th>
  )
}

interface BodyProps<Row extends object> {
  columns: readonly Column<Row>[]
  /** Undefined while loading. */
  rows: readonly EngineRow<Row>[] | undefined
  skeletons: number
  /** The time at which the rows arrived, in epoch milliseconds. */
  answeredAt: number
  rowName(row: Row): string
  rowTone?: ((row: Row) => 'bad' | undefined) | undefined
  actions?(row: Row): RowAction[]
  bulk?: readonly BulkAction<Row>[]
  peeks?: boolean
  nearRow?: ((row: Row) => void) | undefined
  current: number
  onOpen(row: Row): void
  onSelect(ids: readonly string[], selected: boolean): void
}

/** The rows of a list, or skeletons of the same size while they load. */
export function TableBody<Row extends object>(props: BodyProps<Row>) {
  const {
    rows,
    answeredAt,
    columns,
    rowName,
    rowTone,
    actions,
    bulk,
    peeks = false,
    nearRow,
    current,
    onOpen,
    onSelect,
  } = props
  const last = useRef<number>(undefined)
  const select = useCallback(
    (index: number, { target, nativeEvent }: ChangeEvent<HTMLInputElement>) => {
      // With Shift, all rows between the previously clicked row and this one change together.
      const through = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey
      const from = through ? (last.current ?? index) : index
      const chosen = rows?.slice(Math.min(from, index), Math.max(from, index) + 1) ?? []
      onSelect(
        chosen.map((row) => row.id),
        target.checked,
      )
      last.current = index
    },
    [rows, onSelect],
  )
  if (!rows) return <SkeletonRows {...props} />
  return (
    <tbody>
      {rows.map((row, index) => (
        <BodyRow
          key={row.id}
          row={row}
          index={index}
          answeredAt={answeredAt}
          columns={columns}
          rowName={rowName}
          tone={rowTone?.(row.original)}
          actions={actions}
          selectable={bulk !== undefined}
          isSelected={row.getIsSelected()}
          peeks={peeks}
          nearRow={nearRow}
          isCurrent={index === current}
          onOpen={onOpen}
          onSelect={select}
        />
      ))}
    </tbody>
  )
}

/** Whether a click was meant for the row itself, rather than for a control inside the row or for selecting text. */
function isOwnClick(event: ReactMouseEvent): boolean {
  const target = event.target instanceof Element ? event.target : undefined
  if (target?.closest('a, button, input, label, select, textarea, [role="menu"]')) return false
  // In React's tree, a row's dialogs and menus are inside the row. In the DOM they are not, so their clicks can be
  // recognised.
  if (!event.currentTarget.contains(target ?? null)) return false
  return window.getSelection()?.isCollapsed !== false
}

interface RowProps<Row extends object> {
  row: EngineRow<Row>
  index: number
  /** When this value changes, the row is redrawn, because cells show relative times. */
  answeredAt: number
  columns: readonly Column<Row>[]
  rowName(row: Row): string
  tone: 'bad' | undefined
  actions: ((row: Row) => RowAction[]) | undefined
  selectable: boolean
  isSelected: boolean
  peeks: boolean
  nearRow: ((row: Row) => void) | undefined
  isCurrent: boolean
  onOpen(row: Row): void
  onSelect(index: number, event: ChangeEvent<HTMLInputElement>): void
}

/**
 * A row that is redrawn only if one of its props has changed, because drawing the rows is most of the work in a list.
 */
const BodyRow = memo(ListRow) as typeof ListRow

function ListRow<Row extends object>(props: RowProps<Row>) {
  const { row, index, columns, rowName, actions, selectable, isSelected, peeks, nearRow, isCurrent, onOpen, onSelect } =
    props
  const t = useText()
  // Renders again when the server's status changes, because amounts and available actions depend on it.
  useClassicServer()
  const name = rowName(row.original)
  const nearness = useNearness(nearRow && (() => nearRow(row.original)))
  const titleId = columns.find((column) => column.card === 'title')?.id ?? columns[0]?.id
  const line = useRef<HTMLTableRowElement>(null)
  // When a row is removed, the focus moves from the row to the list. This also applies if the row's menu is about to
  // return the focus to the row.
  useLayoutEffect(() => {
    const element = line.current
    return () => {
      const focused = document.activeElement
      if (element?.contains(focused) || focused?.closest('[role="menu"][data-closed]'))
        element?.closest<HTMLElement>('[data-list]')?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <tr
      ref={line}
      role="row"
      {...nearness}
      data-clickable={peeks}
      data-tone={props.tone}
      data-selected={isSelected}
      data-current={isCurrent}
      aria-selected={selectable ? isSelected : undefined}
      onClick={(event) => peeks && isOwnClick(event) && onOpen(row.original)}
    >
      {selectable && (
        <td role="cell" className="select-cell">
          <Checkbox
            aria-label={t('table.select.row', { row: name })}
            className="align-middle"
            checked={isSelected}
            onChange={(event) => onSelect(index, event)}
          />
        </td>
      )}
      {columns.map((column) =>
        column.id === titleId ? (
          <th
            key={column.id}
            role="rowheader"
            scope="row"
            data-card="title"
            data-align={column.align}
            data-wraps={column.wraps}
          >
            {peeks ? (
              <button
                type="button"
                aria-haspopup="dialog"
                className="inline-flex min-h-6 max-w-full items-center rounded-sm text-start align-middle hover:underline"
                onClick={() => onOpen(row.original)}
              >
                {column.cell(row.original)}
              </button>
            ) : (
              column.cell(row.original)
            )}
          </th>
        ) : (
          <td
            key={column.id}
            role="cell"
            data-card={column.card}
            data-label={column.card === 'badge' ? undefined : capital(column.header)}
            data-align={column.align}
            data-grows={column.grows}
            data-wraps={column.wraps}
          >
            {column.cell(row.original)}
          </td>
        ),
      )}
      {actions && (
        <td role="cell" className="actions-cell">
          <RowActions actions={actions(row.original)} rowName={name} />
        </td>
      )}
    </tr>
  )
}

/** Capitalises a column name. The style sheet shows these names as labels on cards and cannot capitalise them. */
function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const lineClass = 'inline-block h-3.5 align-middle'

function SkeletonRows<Row extends object>({ columns, skeletons, bulk, actions }: BodyProps<Row>) {
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: skeletons }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes have no identity
        <tr key={index}>
          {bulk && <td className="select-cell" />}
          {columns.map((column) => (
            <td
              key={column.id}
              data-align={column.align}
              data-card={column.card}
              data-grows={column.grows}
              data-wraps={column.wraps}
            >
              {column.wraps && column.skeleton === undefined ? (
                <>
                  <Skeleton className={`${lineClass} w-19`} /> <Skeleton className={`${lineClass} w-14`} />
                </>
              ) : (
                <Skeleton className={`${lineClass} ${column.skeleton ?? 'w-20'}`} />
              )}
            </td>
          ))}
          {actions && <td className="actions-cell" />}
        </tr>
      ))}
    </tbody>
  )
}

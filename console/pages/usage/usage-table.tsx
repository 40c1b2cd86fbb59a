import { Link } from '@tanstack/react-router'
import { Download, ListFilter } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { UsageRow } from '../../../contract/api/usage-table.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { RowAction } from '../../components/data-table/types.ts'
import { useList } from '../../components/data-table/use-list.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { filterOf, type Group, nextGroup } from './group-filter.ts'
import { exportAddress, logsOf, tableQuery, type UsageView, usageRows } from './queries.ts'
import { timeOf } from './range.ts'
import type { UsageSearch } from './search.ts'
import { usageColumns } from './usage-columns.tsx'

interface UsageTableProps {
  view: UsageView
  /** Whether the cost of at least one request is known. */
  hasCosts: boolean
  by: Group
  search: UsageSearch
  setSearch: SetSearch<UsageSearch>
  onNarrow(change: Partial<UsageSearch>): void
}

const rowId = ({ key, second_key }: UsageRow) => JSON.stringify([key, second_key])
const rowName = ({ name, second_name }: UsageRow) => (second_name === '' ? name : `${name}, ${second_name}`)

/** A filter for the calls of a row. Undefined if the row cannot be filtered by. */
const rowFilter = (by: Group | 'day', row: UsageRow) => (by === 'day' ? {} : filterOf(by, row))

/**
 * All groups of the view with their figures. The table can be sorted and searched, and has pages. Names link to the
 * logs of their calls.
 */
export function UsageTable({ view, hasCosts, by, search, setSearch, onNarrow }: UsageTableProps) {
  const t = useText()
  // Renders again when the server's settings for amounts change.
  useServerStatus()
  const { and } = view
  const sorted = { ...search, sort: search.sort ?? '-quota' }
  const filters = { ...tableQuery(view), ...(and !== 'day' && { compare: 'previous' }) }
  const list = useList(usageRows, sorted, setSearch as SetSearch<object>, filters)
  const logs = useMemo(() => logsOf(view, timeOf(view) ?? { from: 0, to: 0 }), [view])
  const linkOf = useCallback(
    (row: UsageRow, shown: string) => {
      const own = rowFilter(by, row)
      if (own === undefined) return shown
      return (
        <Link
          to="/log"
          search={{ ...logs, ...own }}
          aria-label={t('usage.ranking.logs', { name: shown })}
          className="block max-w-56 truncate text-link hover:underline"
        >
          {shown}
        </Link>
      )
    },
    [by, logs, t],
  )
  const columns = useMemo(() => usageColumns({ by, and, t, linkOf, hasCosts }), [by, and, t, linkOf, hasCosts])
  const actions = useCallback(
    (row: UsageRow): RowAction[] => {
      const own = rowFilter(by, row)
      if (own === undefined) return []
      const label = t('usage.table.only')
      const run = () => onNarrow({ ...own, group: nextGroup[by], and: undefined, page: undefined, q: undefined })
      return [{ id: 'only', label, icon: <ListFilter />, primary: true, run }]
    },
    [by, onNarrow, t],
  )
  return (
    <Card title={t('usage.ranking')}>
      {by === 'project' && <p className="pb-2 text-sm text-muted">{t('table.facet.project.hint')}</p>}
      <DataTable
        name={and === undefined ? 'usage' : 'usage-pairs'}
        caption={t('usage.ranking')}
        columns={columns}
        list={list}
        search={sorted}
        setSearch={setSearch as SetSearch<object>}
        rowId={rowId}
        rowName={rowName}
        actions={actions}
        searchLabel={t('usage.table.search')}
        toolbar={
          <a href={exportAddress(view, sorted)} download className={buttonClass()}>
            <Download />
            {t('usage.table.export')}
          </a>
        }
        empty={<EmptyState title={t('usage.table.empty')} />}
      />
    </Card>
  )
}

import { GitCompareArrows } from 'lucide-react'
import { type ReactNode, Suspense, useMemo } from 'react'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { RowAction } from '../../components/data-table/types.ts'
import { wholeList } from '../../components/data-table/whole-list.ts'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { modelColumns } from './columns.tsx'
import { Filters, isFiltered, noFilters, passes } from './filters.tsx'
import type { CatalogueRow } from './rows.ts'
import type { ModelSearch } from './search.ts'

const CompareModels = lazy(() => import('./compare.tsx').then((it) => ({ default: it.CompareModels })))

/** The maximum number of models that can be compared. */
const mostCompared = 4

const rowId = ({ model }: CatalogueRow) => model

interface CatalogueProps {
  all: readonly CatalogueRow[]
  search: ModelSearch
  setSearch: SetSearch<ModelSearch>
  query: Parameters<typeof wholeList>[0]['query']
  /** Whether other groups' prices can be chosen. */
  admin: boolean
  /** Whether the server measures speed and uptime for this reader. */
  figures: boolean
  actions: (row: CatalogueRow) => RowAction[]
  empty: ReactNode
}

/** The list of models with its filters and the comparison, for users and for visitors. */
export function Catalogue({ all, search, setSearch, query, admin, figures, actions, empty }: CatalogueProps) {
  const t = useText()
  const rows = useMemo(() => all.filter((row) => passes(row, search)), [all, search])
  const facts = all.some((row) => row.facts !== undefined)
  const columns = useMemo(() => modelColumns(t, { facts, figures }), [t, facts, figures])
  const filters = Object.keys(noFilters)
    .concat('group')
    .map((name) => search[name as keyof ModelSearch] ?? '')
    .join(' ')
  const list = wholeList({ rows, search, filters, query })
  const names = (search.compare ?? '').split(',')
  const compared = names.flatMap((name) => all.find(({ model }) => model === name) ?? []).slice(0, mostCompared)
  const compare = (models: readonly string[]) => setSearch({ compare: models.join(',') || undefined })
  const bulk = [
    {
      id: 'compare',
      label: t('model.compare'),
      icon: <GitCompareArrows />,
      run: async () => undefined,
      open: (chosen: readonly CatalogueRow[]) => compare(chosen.slice(0, mostCompared).map(rowId)),
    },
  ]
  return (
    <>
      <DataTable
        name="models"
        caption={t('model.title')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowId}
        actions={actions}
        bulk={bulk}
        peeks
        searchLabel={t('model.search')}
        filters={<Filters search={search} setSearch={setSearch} all={all} admin={admin} />}
        filtered={isFiltered(search)}
        onClearFilters={() => setSearch({ ...noFilters, q: undefined, page: undefined })}
        empty={empty}
      />
      <Suspense fallback={null}>
        {compared.length > 0 && (
          <CompareModels
            rows={compared}
            onRemove={(gone) => compare(compared.map(rowId).filter((model) => model !== gone))}
            onClose={() => setSearch({ compare: undefined })}
          />
        )}
      </Suspense>
    </>
  )
}

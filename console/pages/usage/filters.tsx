import { Suspense } from 'react'
import { FilterBar } from '../../components/data-table/filter-bar.tsx'
import { Facets } from '../../components/facets/facets.tsx'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { noFacets } from '../../lib/facets.ts'
import { lazy } from '../../lib/lazy.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { narrowingOf, type UsageView } from './queries.ts'
import { timeOf } from './range.ts'
import type { UsageSearch } from './search.ts'

const ClassicFilters = lazy(() => import('./classic-filters.tsx').then((it) => ({ default: it.ClassicFilters })))

interface FiltersProps {
  view: UsageView
  onChange: SetSearch<UsageSearch>
}

/** The filters of the usage page. */
export function Filters({ view, onChange }: FiltersProps) {
  const admin = isAdmin(useSessionUser())
  const classic = useClassicServer()
  const search = narrowingOf(view)
  const narrow = (patch: FacetSearch, options?: { replace: boolean }) =>
    onChange({ ...patch, page: undefined }, options)
  const bar = { active: Object.keys(search).length, onClear: () => narrow(noFacets) }
  if (classic) {
    return (
      <FilterBar {...bar}>
        <Suspense fallback={null}>
          <ClassicFilters search={search} admin={admin} onChange={narrow} />
        </Suspense>
      </FilterBar>
    )
  }
  const time = timeOf(view)
  const range = { start: time?.from ?? 0, end: time?.to ?? 0 }
  const facets = { search, onChange: narrow, range, everybody: admin }
  return (
    <FilterBar {...bar} chips={<Facets {...facets} chips />}>
      <Facets {...facets} />
    </FilterBar>
  )
}

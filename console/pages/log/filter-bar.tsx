import { type ReactNode, Suspense } from 'react'
import { FilterBar, FilterChip } from '../../components/data-table/filter-bar.tsx'
import { Facets } from '../../components/facets/facets.tsx'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { lazy } from '../../lib/lazy.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { countOf, noFilters, outcomePatch } from './filters.ts'
import { shownTypes, typeText } from './log-parts.tsx'
import { OutcomeFilter, useOutcomeText } from './outcome-filter.tsx'
import type { LogFilter } from './queries.ts'
import { type Span, spanOf } from './range.ts'
import type { LogSearch } from './search.ts'

const ClassicNames = lazy(() => import('./classic-names.tsx').then((it) => ({ default: it.ClassicNames })))

interface LogFiltersProps {
  search: LogSearch
  setSearch: SetSearch<LogSearch>
  everybody: boolean
  /** The filters of `search` in the server's format. */
  filter: LogFilter
  /** On a phone, shown below the filters. */
  extra?: ReactNode
}

/** The filters of the list. A choice applies immediately. */
export function LogFilters({ search, setSearch, everybody, filter, extra }: LogFiltersProps) {
  const t = useText()
  const classic = useClassicServer()
  const narrow = (patch: Partial<LogSearch>) => setSearch({ ...patch, page: undefined })
  const range = { start: filter.start_timestamp, end: filter.end_timestamp }
  const facets = { search, onChange: (patch: FacetSearch) => narrow(patch), range, everybody }
  const type = {
    label: t('log.filter.type'),
    all: t('log.type.all'),
    slim: true,
    value: search.type,
    choices: shownTypes.map((each) => ({ value: String(each), label: typeText(each, t) })),
    onChange: (value: string | undefined) => narrow({ type: value }),
  }
  const chips = (
    <>
      <OtherChips search={search} everybody={everybody} narrow={narrow} />
      {!classic && <Facets {...facets} chips />}
    </>
  )
  return (
    <FilterBar
      active={countOf(search)}
      onClear={() => setSearch(noFilters)}
      selects={[type]}
      chips={chips}
      extra={extra}
    >
      {!classic && <OutcomeFilter search={search} everybody={everybody} onChange={narrow} />}
      <RangeFilter search={search} setSearch={setSearch} />
      {classic ? (
        <Suspense fallback={null}>
          <ClassicNames search={search} everybody={everybody} onChange={narrow} />
        </Suspense>
      ) : (
        <Facets {...facets} />
      )}
    </FilterBar>
  )
}

/** On a phone, chips for the chosen outcome and range. */
function OtherChips(props: { search: LogSearch; everybody: boolean; narrow(patch: Partial<LogSearch>): void }) {
  const { search, everybody, narrow } = props
  const t = useText()
  const outcome = useOutcomeText(search, everybody)
  const span = spanOf(search)
  return (
    <>
      {outcome !== undefined && (
        <FilterChip
          label={t('log.filter.outcome')}
          text={outcome}
          onRemove={() => narrow(outcomePatch({ is: [], not: [] }))}
        />
      )}
      {span !== 'all' && (
        <FilterChip
          label={t('log.filter.range')}
          text={t('table.filter.is', { label: t('log.filter.range'), value: t(`log.range.${span}`) })}
          onRemove={() => narrow({ from: undefined, to: undefined })}
        />
      )}
    </>
  )
}

function RangeFilter({ search, setSearch }: Pick<LogFiltersProps, 'search' | 'setSearch'>) {
  const t = useText()
  const span = spanOf(search)
  const ranges = (['all', '1h', '24h', '7d', '30d', 'custom'] as const).map((value) => ({
    value,
    label: t(`log.range.${value}`),
  }))
  const choose = (next: Span | 'all' | 'custom') => {
    const from = next === 'all' ? undefined : next === 'custom' ? '0' : next
    setSearch({ from, to: undefined, page: undefined })
  }
  return (
    <>
      <Segmented label={t('log.filter.range')} options={ranges} value={span} onChange={choose} />
      {span === 'custom' && (
        <>
          <MomentBox
            label={t('log.filter.from')}
            value={momentOf(search.from)}
            onChange={(from) => setSearch({ from: from?.toString(), page: undefined }, { replace: true })}
          />
          <MomentBox
            label={t('log.filter.to')}
            value={momentOf(search.to)}
            onChange={(to) => setSearch({ to: to?.toString(), page: undefined }, { replace: true })}
          />
        </>
      )}
    </>
  )
}

const momentOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

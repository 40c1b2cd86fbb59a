import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { focusFirst } from '../../components/data-table/focus-first.ts'
import { useLasting } from '../../components/data-table/lasting.ts'
import { SavedViews } from '../../components/saved-views.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { ChartSkeleton, EmptyState, ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { noFacets } from '../../lib/facets.ts'
import { isAt } from '../../lib/first-look.ts'
import { queryClient } from '../../lib/query-client.ts'
import { sessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { parseQuery } from '../../lib/url-query.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { noChoices } from './choices.ts'
import { Controls } from './controls.tsx'
import { Filters } from './filters.tsx'
import { narrowingOf, usageQuery, viewOf } from './queries.ts'
import { timeOf } from './range.ts'
import { Results } from './results.tsx'
import { parseUsageSearch, type UsageSearch } from './search.ts'
import { UsageNews } from './usage-news.tsx'

// This request starts before anything is drawn. The page later uses the same query and gets the same result, because
// the query key does not contain the current time. If the request fails, the page shows the failure.
if (isAt('/usage') && sessionUser()) {
  const view = viewOf(parseUsageSearch(parseQuery(location.search)))
  if (timeOf(view)) void queryClient.prefetchQuery(usageQuery(view))
}

/** The figures for which placeholders are shown above the chart while the usage loads. */
const shownKpis = ['quota', 'requests', 'tokens', 'cached_share', 'failed', 'first_byte']

/** `/usage`: usage over time and by model, token, user or channel. */
export function UsagePage() {
  const t = useText()
  const [search, setSearch] = useUrlState(parseUsageSearch)
  const view = viewOf(search)
  const isTime = timeOf(view) !== undefined
  const { data, error, isPending, refetch, isFetching, isPlaceholderData } = useQuery({
    ...usageQuery(view),
    enabled: isTime,
  })
  const slow = useLasting(isPlaceholderData)
  // Until the requested figures have loaded, the previous figures stay with their own labels.
  const before = useRef(view)
  const of = isPlaceholderData ? before.current : view
  useEffect(() => {
    before.current = of
  })
  const results = useRef<HTMLDivElement>(null)
  const narrow = (change: Partial<UsageSearch>) => {
    // The pressed button disappears together with its row, so the focus moves to the results.
    results.current?.focus({ preventScroll: true })
    setSearch(change)
  }
  const clear = () => {
    focusFirst(results.current?.closest('main') ?? null)
    setSearch({ ...noFacets, page: undefined, q: undefined })
  }
  const classic = useClassicServer()
  const views = (
    <>
      {!classic && (
        <Link to="/statement" className="px-2 text-sm text-link hover:underline">
          {t('usage.statement')}
        </Link>
      )}
      <SavedViews page="usage" search={search} onShow={(saved) => setSearch({ ...noChoices, ...saved })} />
    </>
  )
  const shown = isTime && data ? data : undefined
  return (
    <Page title={t('usage.title')} text={t('usage.intro')} width="full" actions={views}>
      <div className="flex flex-wrap items-center gap-3 pb-4">
        <Controls
          view={view}
          hasCosts={data?.total.cost !== undefined}
          onChange={(change) => setSearch(change, { replace: true })}
        />
        <Filters view={view} onChange={setSearch} />
      </div>
      <div ref={results} tabIndex={-1} className="outline-none">
        {!isTime ? (
          <Card>
            <EmptyState title={t('usage.range.none')} text={t('usage.range.none.text')} />
          </Card>
        ) : error && !data ? (
          <ErrorState title={t('usage.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
        ) : isPending || !shown ? (
          <div className="flex h-[34rem] flex-col gap-4">
            <div className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
              {shownKpis.map((each) => (
                <Skeleton key={each} className="h-24 w-full rounded-lg" />
              ))}
            </div>
            <ChartSkeleton className="min-h-0 w-full flex-1" />
          </div>
        ) : (
          <div className={`flex flex-col gap-4 ${slow ? 'opacity-60' : ''}`} aria-busy={isFetching}>
            <Results
              usage={shown}
              view={of}
              search={search}
              setSearch={setSearch}
              narrowed={Object.keys(narrowingOf(of)).length > 0}
              onNarrow={narrow}
              onClear={clear}
            />
          </div>
        )}
      </div>
      <UsageNews usage={isPlaceholderData ? undefined : shown} view={view} />
    </Page>
  )
}

import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { SavedViews } from '../../components/saved-views.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { isAt } from '../../lib/first-look.ts'
import { queryClient } from '../../lib/query-client.ts'
import { sessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { parseQuery, useUrlState } from '../../lib/url-state.ts'
import { Controls } from './controls.tsx'
import { Figures } from './figures.tsx'
import { usageQuery, viewOf } from './queries.ts'
import { Ranking } from './ranking.tsx'
import { noChoices, parseUsageSearch } from './search.ts'

const UsageChart = lazy(() => import('./usage-chart.tsx').then((it) => ({ default: it.UsageChart })))

// Begun before anything is drawn. The time that ends now is no part of the key; a failure is the page's to show.
if (isAt('/usage') && sessionUser())
  void queryClient.prefetchQuery(usageQuery(viewOf(parseUsageSearch(parseQuery(location.search)))))

/** `/usage`: what was used, over time and by model, token, user or channel. */
export function UsagePage() {
  const t = useText()
  const [search, setSearch] = useUrlState(parseUsageSearch)
  const view = viewOf(search)
  const { data, error, isPending, refetch, isFetching } = useQuery(usageQuery(view))
  const views = <SavedViews page="usage" search={search} onShow={(saved) => setSearch({ ...noChoices, ...saved })} />
  return (
    <Page title={t('usage.title')} text={t('usage.intro')} actions={views}>
      <Controls view={view} onChange={(change) => setSearch(change, { replace: true })} />
      {error && !data ? (
        <ErrorState title={t('usage.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
      ) : isPending ? (
        <Skeleton className="h-[34rem] w-full rounded-lg" />
      ) : (
        <div className="flex flex-col gap-4" aria-busy={isFetching}>
          {data.fromRows !== undefined && (
            <p className="text-sm text-muted">{t('usage.fromRows', { count: data.fromRows })}</p>
          )}
          <Figures usage={data} />
          {data.total.requests === 0 ? (
            <Card>
              <EmptyState title={t('usage.empty')} text={t('usage.empty.text')} />
            </Card>
          ) : (
            <>
              <Suspense fallback={<Skeleton className="h-80 w-full rounded-lg" />}>
                <UsageChart usage={data} view={view} />
              </Suspense>
              {view.group !== 'none' && <Ranking usage={data} view={view} />}
            </>
          )}
        </div>
      )}
    </Page>
  )
}

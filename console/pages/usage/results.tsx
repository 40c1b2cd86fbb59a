import { Suspense } from 'react'
import { Card } from '../../components/ui/page.tsx'
import { ChartSkeleton, EmptyState, RowsSkeleton } from '../../components/ui/states.tsx'
import type { KnownUsage } from '../../lib/known-usage.ts'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { Figures } from './figures.tsx'
import type { UsageView } from './queries.ts'
import { Ranking } from './ranking.tsx'
import type { UsageSearch } from './search.ts'

const UsageTable = lazy(() => import('./usage-table.tsx').then((it) => ({ default: it.UsageTable })))
const UsageChart = lazy(() => import('./usage-chart.tsx').then((it) => ({ default: it.UsageChart })))

interface ResultsProps {
  usage: KnownUsage
  view: UsageView
  search: UsageSearch
  setSearch: SetSearch<UsageSearch>
  /** Whether filters exclude part of the usage. */
  narrowed: boolean
  onNarrow(change: Partial<UsageSearch>): void
  /** Clears the filters. */
  onClear(): void
}

/** The result of a usage view: figures, chart and ranking, or a note that there was no usage. */
export function Results({ usage, view, search, setSearch, narrowed, onNarrow, onClear }: ResultsProps) {
  const t = useText()
  return (
    <>
      {usage.fromRows !== undefined && (
        <p className="text-sm text-muted">{t('usage.fromRows', { count: usage.fromRows })}</p>
      )}
      <Figures usage={usage} />
      {usage.total.requests > 0 ? (
        <>
          <Suspense fallback={<ChartSkeleton className="h-80 w-full" />}>
            <UsageChart usage={usage} view={view} />
          </Suspense>
          {view.group !== 'none' &&
            (usage.fromRows === undefined ? (
              <Suspense fallback={<RowsSkeleton className="h-96" />}>
                <UsageTable
                  view={view}
                  hasCosts={usage.total.cost !== undefined}
                  by={view.group}
                  search={search}
                  setSearch={setSearch}
                  onNarrow={onNarrow}
                />
              </Suspense>
            ) : (
              <Ranking usage={usage} view={view} by={view.group} onNarrow={onNarrow} />
            ))}
        </>
      ) : (
        <Card>
          {narrowed ? (
            <EmptyState title={t('usage.empty.filtered')}>
              <button type="button" className="text-sm text-link underline" onClick={onClear}>
                {t('table.filters.clear')}
              </button>
            </EmptyState>
          ) : (
            <EmptyState title={t('usage.empty')} text={t('usage.empty.text')} />
          )}
        </Card>
      )}
    </>
  )
}

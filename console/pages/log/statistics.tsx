import { useQuery } from '@tanstack/react-query'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, formatPercent, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type LogFilter, statQuery } from './queries.ts'

interface StatisticsProps {
  filter: LogFilter
  everybody: boolean
  /** Number of rows that match the filters; undefined while the number is unknown. */
  rows: number | undefined
  /** Whether the rows may include calls; only calls have quota and tokens. */
  ofCalls: boolean
}

/** Quota, tokens and number of rows that match the filters, as figures and as a sentence. */
export function Statistics({ filter, everybody, rows, ofCalls }: StatisticsProps) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const { data, isPending, isPlaceholderData, error } = useQuery(statQuery(filter, everybody))
  if (error) {
    return (
      <p role="alert" className="pb-3 text-sm text-bad">
        {t('log.kpi.failed')}: {error.message}
      </p>
    )
  }
  const quota = data ? formatQuota(data.quota) : '–'
  const tokens = data ? formatCount(data.token ?? 0) : '–'
  return (
    <section
      aria-label={t('log.stat', { quota, tokens })}
      className="grid grid-cols-2 gap-3 pb-3 sm:grid-cols-3 lg:auto-cols-fr lg:grid-flow-col lg:grid-cols-none"
    >
      <Kpi label={t('log.kpi.quota')} loading={isPending} value={quota} />
      <Kpi label={t('log.kpi.tokens')} loading={isPending} value={tokens} />
      {data?.calls !== undefined || isPending ? (
        <Kpi
          label={t('log.kpi.errors')}
          loading={isPending}
          value={data?.calls ? formatPercent(data.failed / data.calls) : '–'}
        />
      ) : null}
      <Kpi label={t('log.kpi.requests')} value={rows === undefined ? '–' : formatCount(rows)} />
      <Kpi
        label={t('log.kpi.average')}
        loading={isPending}
        value={data && !isPlaceholderData && ofCalls && rows ? formatQuota(data.quota / rows, 6) : '–'}
      />
    </section>
  )
}

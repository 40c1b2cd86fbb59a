import { useQuery } from '@tanstack/react-query'
import { logType } from '../../../contract/log-types.ts'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, formatPercent, useFormatQuota, useFormatSum } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type LogFilter, statQuery } from './queries.ts'

interface StatisticsProps {
  filter: LogFilter
  everybody: boolean
  /** Number of rows that match the filters; undefined while the number is unknown. */
  rows: number | undefined
}

/** Quota, tokens and number of rows that match the filters, as figures and as a sentence. */
export function Statistics({ filter, everybody, rows }: StatisticsProps) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const formatSum = useFormatSum()
  const { data, isPending, isPlaceholderData, error } = useQuery(statQuery(filter, everybody))
  if (error) {
    return (
      <p role="alert" className="pb-3 text-sm text-bad">
        {t('log.kpi.failed')}: {error.message}
      </p>
    )
  }
  const quota = data ? formatSum(data.quota) : '–'
  const tokens = data ? formatCount(data.token ?? 0) : '–'
  const { type = 0 } = filter
  const isOfCalls = type === 0 || type === logType.consume || type === logType.error
  // If the list is not filtered by type, it also contains top-ups, tests and other events. The number of requests is
  // then the server's count which, like the cost, includes requests whose rows have been deleted.
  const counted = type === 0 && data?.calls !== undefined
  const requests = counted ? (isPlaceholderData ? undefined : data.calls) : rows
  // The cost always covers all requests, so there is no average if only failed requests are listed.
  const hasAverage = data && !isPlaceholderData && isOfCalls && type !== logType.error && requests
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
      <Kpi
        label={t(isOfCalls ? 'log.kpi.requests' : 'log.kpi.entries')}
        value={requests === undefined ? '–' : formatCount(requests)}
      />
      <Kpi
        label={t('log.kpi.average')}
        loading={isPending}
        value={hasAverage ? formatQuota(data.quota / requests, 6) : '–'}
      />
    </section>
  )
}

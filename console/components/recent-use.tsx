import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatPercent, useFormatSum } from '../lib/format.ts'
import { readUsage } from '../lib/read-usage.ts'
import { useText } from '../lib/text.ts'
import { Spark } from './chart/spark.tsx'
import { ChartSkeleton } from './ui/states.tsx'

const days = 14
const daySeconds = 86_400
/** Number of models or tokens listed by name. */
const top = 4

/** Selects the usage to show: that of a token, a user, a channel or a model. */
export interface UseFilter {
  token_name?: string
  username?: string | undefined
  /** The channel's id. */
  channel?: string
  model_name?: string
}

/** The search parameters of the usage page for the same filter. */
const usageOf = ({ token_name, username, channel, model_name }: UseFilter) => ({
  token: token_name,
  user: username,
  channel,
  model: model_name,
  ...(model_name !== undefined && { group: 'token' as const }),
})

/**
 * Spending in the last 14 days: a line chart by day, and the models with the highest spending (for a model, the tokens
 * with the highest spending).
 */
export function RecentUse({ filter }: { filter: UseFilter }) {
  const t = useText()
  const formatSum = useFormatSum()
  const { data, error, isPending } = useQuery({
    queryKey: ['usage', 'recent', filter],
    queryFn: ({ signal }) => {
      const start_timestamp = Math.floor(Date.now() / 1000) - (days - 1) * daySeconds
      const utc_offset = -new Date().getTimezoneOffset()
      const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone
      const group_by = filter.model_name === undefined ? 'model' : 'token'
      const range = { metric: 'quota', group_by, rollup: 'day', start_timestamp, utc_offset, time_zone, top }
      return readUsage({ ...range, ...filter }, signal)
    },
  })
  const spent = data ? formatSum(data.total.quota) : ''
  return (
    <section aria-label={t('table.use')} className="text-sm">
      <h3 className="mb-1 flex items-baseline justify-between gap-2 font-medium">
        {t('table.use')}
        <span className="num">{spent}</span>
      </h3>
      {isPending && <ChartSkeleton className="h-24 border-0! px-0! pt-4!" />}
      {error && <p className="text-bad">{error.message}</p>}
      {data && filter.channel !== undefined && data.total.failed > 0 && (
        <p className="text-bad">{t('table.use.failed', { count: data.total.failed })}</p>
      )}
      {data && filter.channel !== undefined && data.total.prompt_tokens > 0 && (
        <p className="num text-muted">{t('table.use.cached', { share: formatPercent(data.total.cached_share, 0) })}</p>
      )}
      {data && data.total.requests === 0 && <p className="text-muted">{t('table.use.none')}</p>}
      {data && data.total.requests > 0 && (
        <>
          <Spark values={data.values} summary={t('table.use.summary', { days, spent })} />
          <ul className="mt-1 divide-y divide-line">
            {data.groups.map((group) => (
              <li key={group.key} className="num flex items-center gap-3 py-1.5">
                <span className="min-w-0 flex-1 truncate" title={group.name} data-verbatim>
                  {group.name}
                </span>
                <span className="text-muted">
                  {data.total.quota > 0 && formatPercent(group.total.quota / data.total.quota, 0)}
                </span>
                <span>{formatSum(group.total.quota)}</span>
              </li>
            ))}
          </ul>
          <Link to="/usage" search={usageOf(filter)} className="mt-1 inline-block text-link hover:underline">
            {t('table.use.open')}
          </Link>
        </>
      )}
    </section>
  )
}

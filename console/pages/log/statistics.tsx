import { useQuery } from '@tanstack/react-query'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, useFormatQuota } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { histogramQuery, type LogFilter, rowsIn, statQuery } from './queries.ts'

interface StatisticsProps {
  filter: LogFilter
  everybody: boolean
  /** Rows of the list; undefined until they are known. */
  listed: number | undefined
  sort: string | undefined
}

/** How many rows the filters let through; undefined until it is known. */
function useRows({ filter, everybody, listed, sort }: StatisticsProps): number | undefined {
  // Sorted by anything but the time the server lists the newest rows only; the histogram counts them all.
  const partly = !useClassicServer() && sort !== undefined && !/^-?(id|created_at)$/.test(sort)
  const counted = useQuery({ ...histogramQuery(filter, everybody), enabled: partly, select: rowsIn }).data
  return partly ? counted : listed
}

/** Says so when the list is sorted and has the newest rows only. It stands below the list, where it moves nothing. */
export function NewestOnly(props: StatisticsProps) {
  const t = useText()
  const rows = useRows(props)
  const { listed } = props
  if (rows === undefined || listed === undefined || rows <= listed) return null
  return <p className="pt-1 text-sm text-muted">{t('log.sortedNewest', { count: formatCount(listed) })}</p>
}

/** Quota and tokens of what the filters let through, as figures and as a sentence. */
export function Statistics(props: StatisticsProps) {
  const { filter, everybody } = props
  const t = useText()
  const rows = useRows(props)
  const formatQuota = useFormatQuota()
  const { data, isPending, error } = useQuery(statQuery(filter, everybody))
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
    <section aria-label={t('log.stat', { quota, tokens })} className="grid grid-cols-2 gap-3 pb-3 lg:grid-cols-4">
      <Kpi label={t('log.kpi.quota')} loading={isPending} value={quota} />
      <Kpi label={t('log.kpi.tokens')} loading={isPending} value={tokens} />
      <Kpi label={t('log.kpi.requests')} value={rows === undefined ? '–' : formatCount(rows)} />
      <Kpi
        label={t('log.kpi.average')}
        loading={isPending}
        value={data && rows ? formatQuota(data.quota / rows, 6) : '–'}
      />
    </section>
  )
}

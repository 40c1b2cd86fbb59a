import { useQuery } from '@tanstack/react-query'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, useFormatQuota } from '../../lib/format.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { type Histogram, histogramQuery, type LogFilter, statQuery } from './queries.ts'

const rowsIn = ({ types }: Histogram) => types.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)

interface StatisticsProps {
  filter: LogFilter
  everybody: boolean
  /** Rows of the list; undefined until they are known. */
  listed: number | undefined
  sort: string | undefined
}

/** Quota and tokens of what the filters let through, as figures and as a sentence. */
export function Statistics({ filter, everybody, listed, sort }: StatisticsProps) {
  const t = useText()
  // Sorted by anything but the time the server lists the newest rows only; the histogram counts them all.
  const partly = !useClassicServer() && sort !== undefined && !/^-?(id|created_at)$/.test(sort)
  const counted = useQuery({ ...histogramQuery(filter, everybody), enabled: partly, select: rowsIn }).data
  const rows = partly ? counted : listed
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
  const figures = (
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
  if (rows === undefined || listed === undefined || rows <= listed) return figures
  return (
    <>
      {figures}
      <p className="pb-3 text-sm text-muted">{t('log.sortedNewest', { count: formatCount(listed) })}</p>
    </>
  )
}

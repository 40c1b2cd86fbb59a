import { useQuery } from '@tanstack/react-query'
import { Bars } from '../../components/chart/bars.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { formatCount, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { typeText } from './log-parts.tsx'
import { histogramQuery, type LogFilter } from './queries.ts'

const height = 120
const daySeconds = 86_400

/** Rows over time by type; a bar narrows the list to its time. */
export function Histogram(props: { filter: LogFilter; everybody: boolean; onRange(from: number, to: number): void }) {
  const { filter, everybody, onRange } = props
  const t = useText()
  const { data, error, isPending } = useQuery(histogramQuery(filter, everybody))
  if (isPending) return <Skeleton className="mb-3 h-[8.5rem] w-full rounded-lg" />
  if (error) return <p className="pb-3 text-sm text-muted">{t('log.histogram.failed')}</p>
  const { starts, step, types } = data
  const count = types.reduce((sum, { counts }) => sum + counts.reduce((a, b) => a + b, 0), 0)
  const [first] = starts
  const last = starts.at(-1)
  if (count === 0 || first === undefined || last === undefined) return null
  const label = (at: number) => formatTime(at).slice(5, step >= daySeconds ? 10 : 16)
  return (
    <figure aria-label={t('log.histogram')} className="mb-3 rounded-lg border border-line bg-surface px-3 pt-2">
      <Bars
        height={height}
        labels={starts.map(label)}
        series={types.map(({ type, counts }) => ({ id: String(type), name: typeText(type, t), values: counts }))}
        format={formatCount}
        summary={t('log.histogram.summary', {
          count: formatCount(count),
          from: formatTime(first),
          to: formatTime(last + step),
        })}
        onPick={(index) => {
          const from = starts[index]
          if (from !== undefined) onRange(from, from + step - 1)
        }}
      />
    </figure>
  )
}

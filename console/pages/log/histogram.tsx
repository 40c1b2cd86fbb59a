import { useQuery } from '@tanstack/react-query'
import { Bars } from '../../components/chart/bars.tsx'
import { ChartFrame } from '../../components/chart/chart-frame.tsx'
import { useLasting } from '../../components/data-table/lasting.ts'
import { ChartSkeleton } from '../../components/ui/states.tsx'
import { formatCount, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { type Histogram as Bins, histogramQuery, type LogFilter } from './queries.ts'

const height = 72
const daySeconds = 86_400
const colors = { succeeded: 'green', failed: 'red', other: 'grey' } as const

/**
 * Drops empty bars that begin in the future. They exist because the time range of the log ends one hour from now.
 */
function untilNow({ starts, step, outcomes }: Bins): Pick<Bins, 'starts' | 'step' | 'outcomes'> {
  const now = Date.now() / 1000
  const end = starts.findLastIndex((start, index) => start <= now || outcomes.some(({ counts }) => counts[index])) + 1
  return {
    step,
    starts: starts.slice(0, end),
    outcomes: outcomes.map(({ outcome, counts }) => ({ outcome, counts: counts.slice(0, end) })),
  }
}

/**
 * Shows the number of rows over time by outcome. Clicking a bar, or dragging over several, filters the list by their
 * time range.
 */
export function Histogram(props: { filter: LogFilter; everybody: boolean; onRange(from: number, to: number): void }) {
  const { filter, everybody, onRange } = props
  const t = useText()
  const { data: histogram, error, isPending, isPlaceholderData } = useQuery(histogramQuery(filter, everybody))
  // The previous chart stays, dimmed, until the next one has loaded.
  const slow = useLasting(isPlaceholderData)
  if (isPending) return <ChartSkeleton className="mb-3 h-[134px] w-full max-sm:h-[142px]" />
  if (error) return <p className="pb-3 text-sm text-muted">{t('log.histogram.unavailable')}</p>
  const { starts, step, outcomes } = untilNow(histogram)
  const count = outcomes.reduce((sum, { counts }) => sum + counts.reduce((a, b) => a + b, 0), 0)
  const [first] = starts
  const last = starts.at(-1)
  if (count === 0 || first === undefined || last === undefined) return null
  const choose = (bars: { from: number; to: number }) => {
    const [from, to] = [starts[bars.from], starts[bars.to]]
    if (from !== undefined && to !== undefined) onRange(from, to + step - 1)
  }
  const label = (at: number) => formatTime(at).slice(5, step >= daySeconds ? 10 : 16)
  const labels = starts.map(label)
  const series = outcomes.map(({ outcome, counts }) => ({
    id: outcome,
    name: t(`log.histogram.${outcome}`),
    values: counts,
    color: colors[outcome],
  }))
  const summary = t('log.histogram.summary', {
    count: formatCount(count),
    from: formatTime(first),
    to: formatTime(last + step),
  })
  const shown = { labels, series, format: formatCount, summary }
  return (
    <div className={`mb-3 ${slow ? 'opacity-60' : ''}`}>
      <ChartFrame {...shown} title={t('log.histogram')} labelHeading={t('log.time')} short>
        {(visible) => (
          <Bars
            {...shown}
            series={visible}
            height={height}
            onPick={(index) => choose({ from: index, to: index })}
            onRange={choose}
          />
        )}
      </ChartFrame>
    </div>
  )
}

import type { ReactNode } from 'react'
import type { Overview } from '../../../contract/api/overview.ts'
import { Spark } from '../../components/chart/spark.tsx'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, formatNumber, formatPercent, useFormatSum } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'

type Hour = Overview['hour']

interface Figure {
  label: string
  value: string
  /** The values of the figure in the last hour and in the hour before; null if there was nothing to measure. */
  now: number | null
  before: number | null
  points: readonly number[]
  /** True if an increase is bad. */
  upIsBad?: boolean
  extra?: string
}

const hourSeconds = 3600
// A non-breaking space reserves the height of a note that is not known yet.
const blank = '\u00a0'

/** Figures of the last hour, each with its curve and its change from the hour before. */
export function HourFigures({ hour }: { hour: Hour | undefined }) {
  const t = useText()
  const formatSum = useFormatSum()
  const figures = figuresOf(hour ?? nothing, t, formatSum)
  return (
    <section
      aria-label={t('home.overview.hour')}
      className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6"
      data-loading={hour ? undefined : true}
    >
      {figures.map((figure) => (
        <Kpi
          narrow
          key={figure.label}
          label={figure.label}
          loading={!hour}
          value={figure.value}
          note={hour ? <Change figure={figure} /> : blank}
        >
          <div className="mt-2 h-7">
            {hour && (
              <Spark
                values={figure.points}
                summary={t('home.overview.summary', { name: figure.label, value: figure.value })}
              />
            )}
          </div>
        </Kpi>
      ))}
    </section>
  )
}

function figuresOf(hour: Hour, t: Text, formatSum: (quota: number) => string): Figure[] {
  // The last hour is still running, so sums are compared as rates.
  const part = hour.seconds / hourSeconds
  const perMinute = (sum: number) => sum / (hour.seconds / 60)
  const rate = (sum: number, of: number) => (of === 0 ? null : sum / of)
  const compared = ({ now, before, points }: Hour['requests']) => ({ now: now / part, before, points })
  const failedShare = rate(hour.failed.now, hour.requests.now)
  return [
    { label: t('home.overview.requests'), value: short(perMinute(hour.requests.now)), ...compared(hour.requests) },
    {
      label: t('home.overview.errors'),
      value: failedShare === null ? '–' : formatPercent(failedShare),
      now: failedShare,
      before: rate(hour.failed.before, hour.requests.before),
      points: hour.failed.points.map((failed, index) => rate(failed, hour.requests.points[index] ?? 0) ?? 0),
      upIsBad: true,
    },
    {
      label: t('home.overview.firstByte'),
      value: timeText(hour.first_byte_p50.now, t),
      now: hour.first_byte_p50.now,
      before: hour.first_byte_p50.before,
      points: hour.first_byte_p50.points.map((point) => point ?? 0),
      upIsBad: true,
      extra: t('home.overview.firstByte.p95', { time: timeText(hour.first_byte_p95.now, t) }),
    },
    { label: t('home.overview.tokens'), value: short(perMinute(hour.tokens.now)), ...compared(hour.tokens) },
    { label: t('home.overview.quota'), value: formatSum(hour.quota.now), ...compared(hour.quota) },
    { label: t('home.overview.people'), value: formatCount(hour.people.now), ...hour.people },
  ]
}

const short = (value: number) => (value < 10 ? String(Math.round(value * 10) / 10) : formatNumber(Math.round(value)))

function timeText(ms: number | null, t: Text): string {
  if (ms === null) return '–'
  if (ms < 1000) return t('home.overview.ms', { value: ms })
  return t('home.overview.seconds', { value: (ms / 1000).toFixed(1) })
}

/** A change with its direction, such as `↑ 12%`. */
const arrow = (change: number) => `${change > 0 ? '↑' : '↓'} ${formatPercent(Math.abs(change), 0)}`

function Change({ figure: { now, before, upIsBad = false, extra } }: { figure: Figure }): ReactNode {
  const t = useText()
  // If an extra figure is shown beside the figure, there is only room for the change itself.
  const isShort = extra !== undefined && now !== null && before !== null && before > 0
  const change = isShort ? arrow(now / before - 1) : changeText(now, before, t)
  const color = upIsBad && now !== null && before !== null ? colorOf(now, before) : ''
  return (
    <>
      {extra !== undefined && (isShort ? `${extra} · ` : extra)}
      {(extra === undefined || isShort) && <span className={color}>{change}</span>}
    </>
  )
}

/** A change by a smaller factor between two hours is not significant. */
const notable = 1.2

function colorOf(now: number, before: number): string {
  if (now > before * notable) return 'text-bad'
  return now * notable < before ? 'text-good' : ''
}

function changeText(now: number | null, before: number | null, t: Text): string {
  if (now === null || before === null) return blank
  if (now === before) return t('home.overview.same')
  if (before === 0) return t('home.overview.new')
  return t('home.overview.change', { change: arrow(now / before - 1) })
}

const noSum = { now: 0, before: 0, points: [] }
const noTime = { now: null, before: null, points: [] }
const nothing: Hour = {
  seconds: hourSeconds,
  starts: [],
  requests: noSum,
  failed: noSum,
  tokens: noSum,
  quota: noSum,
  people: noSum,
  first_byte_p50: noTime,
  first_byte_p95: noTime,
}

import type { ServiceFamily, ServiceState } from '../../../contract/api/status-page.ts'
import { formatPercent } from '../../lib/format.ts'
import { languageTag, type Text, useText } from '../../lib/text.ts'

const daySeconds = 86_400
const [step, width, height] = [5, 3.6, 28]

const fills: Readonly<Record<ServiceState, string>> = {
  up: 'fill-green',
  degraded: 'fill-orange',
  down: 'fill-red',
  none: 'fill-edge',
}

/** At most this many days with problems are listed in words. */
const mostInWords = 10

/** A percentage from the server, as text. */
export function uptimeText(uptime: number): string {
  return formatPercent(uptime / 100, uptime === 100 ? 0 : 1)
}

function dateText(seconds: number): string {
  const form: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeZone: 'UTC' }
  return new Intl.DateTimeFormat(languageTag(), form).format(seconds * 1000)
}

function dayText({ state, uptime }: ServiceFamily['days'][number], seconds: number, t: Text): string {
  const values = { date: dateText(seconds), state: t(`status.page.${state}`) }
  return uptime === null
    ? t('status.page.day', values)
    : t('status.page.day.uptime', { ...values, uptime: uptimeText(uptime) })
}

/** A bar for each day, with a tooltip. Screen readers read out the days with problems instead. */
export function DayBars({ family, firstDay }: { family: ServiceFamily; firstDay: number }) {
  const t = useText()
  const { name, days } = family
  const textOf = (index: number) => {
    const day = days[index]
    return day ? dayText(day, firstDay + index * daySeconds, t) : ''
  }
  const bad = days.flatMap(({ state }, index) => (state === 'degraded' || state === 'down' ? [index] : []))
  const summary =
    bad.length > 0
      ? t('status.page.bars.bad', { count: bad.length, days: bad.slice(-mostInWords).map(textOf).join('; ') })
      : t(days.every(({ state }) => state === 'none') ? 'status.page.bars.none' : 'status.page.bars.good')
  return (
    <svg
      role="img"
      aria-label={t('status.page.bars', { family: name, days: days.length, summary })}
      viewBox={`0 0 ${days.length * step} ${height}`}
      preserveAspectRatio="none"
      className="block h-7 w-full"
    >
      {days.map(({ state }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is identified by its position
        <g key={index}>
          <title>{textOf(index)}</title>
          {/* The whole column reacts to the pointer, not only the bar. */}
          <rect x={index * step} width={step} height={height} fill="transparent" />
          <rect
            data-state={state}
            x={index * step + (step - width) / 2}
            y={state === 'none' ? height / 2 : 0}
            width={width}
            height={state === 'none' ? height / 2 : height}
            rx={0.8}
            className={fills[state]}
          />
        </g>
      ))}
    </svg>
  )
}

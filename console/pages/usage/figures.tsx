import type { Usage } from '../../../contract/api/usage.ts'
import { Kpi } from '../../components/ui/kpi.tsx'
import { formatCount, formatNumber, formatPercent, useFormatSum } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import { type Text, useText } from '../../lib/text.ts'

/** A change by a smaller factor is not coloured. */
const notableChange = 1.1

/** The largest change that is written as a percentage. A larger one would only mean that there was almost nothing before. */
export const mostChange = 9.99

/** How a figure compares with the previous period, in words; undefined if there is nothing to compare. */
export function changeText(now: number, before: number | undefined, t: Text): string | undefined {
  if (before === undefined) return undefined
  if (before === 0) return now === 0 ? undefined : t('usage.change.new')
  const change = Math.abs(now / before - 1)
  if (Math.round(change * 100) === 0) return t('usage.change.same')
  const percent = (change > mostChange ? '>' : '') + formatPercent(Math.min(change, mostChange), 0)
  return t(now > before ? 'usage.change.up' : 'usage.change.down', { percent })
}

/**
 * The same comparison as a number for a column, such as `+12%`. If the previous figure was zero, the result is in
 * words.
 */
export function changeShort(now: number, before: number | undefined, t: Text): string | undefined {
  if (before === undefined) return undefined
  if (before === 0) return changeText(now, before, t)
  const change = now / before - 1
  return (change > mostChange ? '>' : '') + formatPercent(Math.min(change, mostChange), 0, 'exceptZero')
}

/** Figures that should be low. Other figures, such as the spend, are neither good nor bad. */
const lessIsBetter: readonly string[] = ['failed', 'first_byte']

/**
 * The class for the colour of a change. A figure that got clearly worse is red, and one that got clearly better is
 * green.
 */
function changeColor(name: string, now: number, before: number): string {
  if (!lessIsBetter.includes(name)) return ''
  if (now > before * notableChange) return 'text-bad'
  return now * notableChange < before ? 'text-good' : ''
}

/** The totals of the period, each compared with the previous period. */
export function Figures({ usage }: { usage: Usage }) {
  const t = useText()
  const formatSum = useFormatSum()
  const { total, previous } = usage
  const items = [
    ['quota', t('usage.kpi.quota'), formatSum],
    ['requests', t('usage.kpi.requests'), formatCount],
    ['tokens', t('usage.kpi.tokens'), formatNumber],
    ['cached_share', t('usage.kpi.cached'), (share: number) => formatPercent(share, 0)],
    ['failed', t('usage.kpi.failed'), formatCount],
    ...(total.cost === undefined
      ? []
      : ([
          ['cost', t('usage.metric.cost'), formatSum],
          ['margin', t('usage.metric.margin'), formatSum],
        ] as const)),
    ['first_byte', t('usage.kpi.firstByte'), (ms: number) => t('usage.ms', { value: formatCount(Math.round(ms)) })],
  ] as const
  return (
    <div className={`grid grid-cols-2 gap-3 md:grid-cols-3 ${items.length > 6 ? 'lg:grid-cols-4' : 'xl:grid-cols-6'}`}>
      {items.map(([name, label, format]) => {
        const now = total[name] ?? 0
        const before = previous?.[name]
        // If one of the two figures is a loss, a percentage would be meaningless.
        const note = now < 0 || (before ?? 0) < 0 ? undefined : changeText(now, before, t)
        const value = name === 'margin' && now < 0 ? <span className={lossClass(now)}>{format(now)}</span> : format(now)
        const colored = note !== undefined && <span className={changeColor(name, now, before ?? 0)}>{note}</span>
        return <Kpi key={name} label={label} value={value} {...(colored && { note: colored })} />
      })}
    </div>
  )
}

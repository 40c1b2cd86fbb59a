import { formatCount, formatPercent, useFormatSum } from '../lib/format.ts'
import { useText } from '../lib/text.ts'
import type { LimitValues } from './form/limit-fields.tsx'
import { UsageBar } from './usage-bar.tsx'

/** The limits in responses about a token or a user. Some servers do not send them. */
type Limited = Partial<LimitValues & { spent_today: number; spent_month: number }>

const rates = [
  ['rpm_limit', 'form.limits.rpm'],
  ['tpm_limit', 'form.limits.tpm'],
  ['concurrency_limit', 'form.limits.concurrency'],
] as const
const budgets = [
  ['daily_budget', 'spent_today', 'form.limits.daily'],
  ['monthly_budget', 'spent_month', 'form.limits.monthly'],
] as const

/** From this percentage on, a budget counts as nearly spent. */
const nearlyPercent = 80

interface LimitsProps {
  of: Limited | undefined
  /** Shown under the heading. */
  note?: string
  heading?: 'h2' | 'h3'
  className?: string
}

/**
 * The configured limits, and how much of the budgets is spent. Renders nothing if there are no limits. The area `form`
 * must be loaded.
 */
export function Limits({ of = {}, note, heading: Heading = 'h3', className = '' }: LimitsProps) {
  const t = useText()
  const setRates = rates.flatMap(([key, label]) => (of[key] ? [{ label: t(label), limit: of[key] }] : []))
  const setBudgets = budgets.flatMap(([key, spent, label]) =>
    of[key] ? [{ label: t(label), budget: of[key], spent: of[spent] ?? 0 }] : [],
  )
  if (setRates.length === 0 && setBudgets.length === 0) return null
  return (
    <section aria-label={t('form.limits')} className={`text-sm ${className}`}>
      <Heading className="font-medium">{t('form.limits')}</Heading>
      {note !== undefined && <p className="text-xs text-muted">{note}</p>}
      <dl className="mt-1 grid grid-cols-[minmax(0,auto)_minmax(0,auto)] gap-x-4 gap-y-1.5">
        {setRates.map(({ label, limit }) => (
          <Line key={label} label={label}>
            {formatCount(limit)}
          </Line>
        ))}
        {setBudgets.map((budget) => (
          <Budget key={budget.label} {...budget} />
        ))}
      </dl>
    </section>
  )
}

function Line({ label, color = '', children }: { label: string; color?: string; children: string }) {
  return (
    <>
      <dt className="break-words text-muted">{label}</dt>
      <dd className={`num min-w-0 text-end break-words ${color}`}>{children}</dd>
    </>
  )
}

function Budget({ label, budget, spent }: { label: string; budget: number; spent: number }) {
  const t = useText()
  const formatSum = useFormatSum()
  // The percentage is rounded down, so that 100 % is shown only if the whole budget is spent.
  const percent = Math.floor((spent * 100) / budget)
  const [text, bar] =
    percent >= 100
      ? ['text-bad', 'fill-red']
      : percent >= nearlyPercent
        ? ['text-warn', 'fill-orange']
        : ['', 'fill-accent']
  const used = t('form.limits.used', {
    spent: formatSum(spent),
    budget: formatSum(budget),
    share: formatPercent(percent / 100, 0),
  })
  const width = Math.min(percent, 100)
  return (
    <>
      <Line label={label} color={text}>
        {used}
      </Line>
      <UsageBar label={label} percent={width} text={used} color={bar} />
    </>
  )
}

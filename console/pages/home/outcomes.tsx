import { useNavigate } from '@tanstack/react-router'
import type { Overview } from '../../../contract/api/overview.ts'
import { Bars } from '../../components/chart/bars.tsx'
import { ChartFrame } from '../../components/chart/chart-frame.tsx'
import { Card } from '../../components/ui/page.tsx'
import { ChartSkeleton } from '../../components/ui/states.tsx'
import { formatCount, formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'

const height = 150
const hourSeconds = 3600

/** Requests of the last 24 hours by outcome. A bar leads to the log rows of its hour. */
export function Outcomes({ day }: { day: Overview['day'] | undefined }) {
  const t = useText()
  const navigate = useNavigate()
  if (!day) return <ChartSkeleton className="h-[13.25rem] w-full" />
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const failed = sum(day.failed) + sum(day.interrupted)
  const count = failed + sum(day.succeeded)
  if (count === 0) {
    return (
      <Card title={t('home.outcomes')}>
        <p className="py-14 text-center text-sm text-muted">{t('home.outcomes.none')}</p>
      </Card>
    )
  }
  const series = [
    { id: 'succeeded', name: t('home.outcomes.succeeded'), values: day.succeeded, color: 'green' },
    { id: 'interrupted', name: t('home.outcomes.interrupted'), values: day.interrupted, color: 'orange' },
    { id: 'failed', name: t('home.outcomes.failed'), values: day.failed, color: 'red' },
  ] as const
  const shown = {
    labels: day.starts.map((start) => formatTime(start).slice(11, 16)),
    series,
    format: formatCount,
    summary: t('home.outcomes.summary', { count: formatCount(count), failed: formatCount(failed) }),
  }
  const pick = (index: number) => {
    const start = day.starts[index]
    if (start === undefined) return
    void navigate({ to: '/log', search: { from: String(start), to: String(start + hourSeconds - 1) } })
  }
  return (
    <ChartFrame {...shown} title={t('home.outcomes')} labelHeading={t('home.outcomes.hour')}>
      {(visible) => <Bars {...shown} series={visible} height={height} onPick={pick} />}
    </ChartFrame>
  )
}

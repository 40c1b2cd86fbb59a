import { useNavigate } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import type { Usage } from '../../../contract/api/usage.ts'
import { Bars } from '../../components/chart/bars.tsx'
import { ChartFrame } from '../../components/chart/chart-frame.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { toCsv } from '../../lib/csv.ts'
import { downloadFile } from '../../lib/download.ts'
import { formatNumber, formatTime, quotaDecimals, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { isMoney } from './money-metrics.ts'
import { logsOf, type UsageView } from './queries.ts'
import { labelsOf, seriesOf, titleOf } from './series.ts'

/** Stacked bars over time; a bar links to the logs of its time range. */
export function UsageChart({ usage, view }: { usage: Usage; view: UsageView }) {
  const t = useText()
  const navigate = useNavigate()
  const formatQuota = useFormatQuota()
  const format = isMoney(view.metric)
    ? (value: number) => formatQuota(value, quotaDecimals(usage.total.quota))
    : formatNumber
  const series = seriesOf(usage, view, t)
  const labels = labelsOf(usage, view)
  const title = titleOf(view)
  const summary = t('usage.chart.summary', {
    metric: t(`usage.metric.${view.metric}`),
    from: formatTime(usage.start),
    to: formatTime(usage.end),
    total: format(usage.total[view.metric] ?? 0),
  })
  const download = () => {
    const rows = usage.buckets.map((at, index) => [formatTime(at), ...series.map((each) => each.values[index] ?? 0)])
    downloadFile('usage.csv', toCsv([t('usage.chart.time'), ...series.map((each) => each.name)], rows), 'text/csv')
  }
  const pick = (index: number) => {
    const from = usage.buckets[index]
    const to = usage.buckets[index + 1] ?? usage.end
    if (from !== undefined)
      void navigate({ to: '/log', search: logsOf(view, { from: Math.max(from, usage.start), to }) })
  }
  return (
    <ChartFrame
      title={title}
      summary={summary}
      labels={labels}
      series={series}
      labelHeading={t('usage.chart.time')}
      format={format}
      actions={<IconButton label={t('usage.csv')} icon={<Download />} onClick={download} />}
    >
      {(shown) => <Bars labels={labels} series={shown} format={format} summary={summary} onPick={pick} height={280} />}
    </ChartFrame>
  )
}

import { useEffect, useRef, useState } from 'react'
import type { Usage } from '../../../contract/api/usage.ts'
import { formatNumber, formatTime, quotaDecimals, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { isMoney } from './money-metrics.ts'
import type { UsageView } from './queries.ts'

/**
 * Announces the result of a choice to screen readers, once `usage` has loaded. The first result of a page is not
 * announced.
 */
export function UsageNews({ usage, view }: { usage: Usage | undefined; view: UsageView }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const asked = JSON.stringify(view)
  const known = useRef<string>(undefined)
  const [news, setNews] = useState('')
  const total = usage?.total[view.metric] ?? 0
  const text =
    usage &&
    t('usage.chart.summary', {
      metric: t(`usage.metric.${view.metric}`),
      from: formatTime(usage.start),
      to: formatTime(usage.end),
      total: isMoney(view.metric) ? formatQuota(total, quotaDecimals(total)) : formatNumber(total),
    })
  useEffect(() => {
    if (text === undefined) return
    if (known.current !== undefined && known.current !== asked) setNews(text)
    known.current = asked
  }, [asked, text])
  return (
    <p role="status" className="sr-only">
      {news}
    </p>
  )
}

import { Link } from '@tanstack/react-router'
import type { Usage } from '../../../contract/api/usage.ts'
import { Card } from '../../components/ui/page.tsx'
import { formatNumber, formatPercent, quotaDecimals, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { changeText } from './figures.tsx'
import { rangeOf, type UsageView } from './queries.ts'

/** The groups by what they used, with their share and their change; names lead to their logs. */
export function Ranking({ usage, view }: { usage: Usage; view: UsageView }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const format =
    view.metric === 'quota' ? (value: number) => formatQuota(value, quotaDecimals(usage.total.quota)) : formatNumber
  const whole = usage.total[view.metric]
  const share = (value: number) => (whole > 0 ? formatPercent(value / whole) : '–')
  const cell = 'py-2 pl-4 text-end num whitespace-nowrap'
  return (
    <Card title={t('usage.ranking')}>
      <table className="w-full text-sm">
        <caption className="sr-only">{t('usage.ranking')}</caption>
        <thead>
          <tr className="text-muted">
            <th scope="col" className="pb-1 text-start font-medium">
              {t('usage.ranking.name')}
            </th>
            <th scope="col" className={`${cell} font-medium`}>
              {t(`usage.metric.${view.metric}`)}
            </th>
            <th scope="col" className={`${cell} font-medium`}>
              {t('usage.ranking.share')}
            </th>
            <th scope="col" className={`${cell} font-medium max-sm:hidden`}>
              {t('usage.ranking.trend')}
            </th>
          </tr>
        </thead>
        <tbody>
          {usage.groups.map((group) => (
            <tr key={group.key} className="border-t border-line">
              <th scope="row" className="w-1/2 max-w-0 py-2 text-start font-normal">
                <GroupLink name={group.name} groupKey={group.key} view={view} />
              </th>
              <td className={cell}>{format(group.total[view.metric])}</td>
              <td className={cell}>{share(group.total[view.metric])}</td>
              <td className={`${cell} text-muted max-sm:hidden`}>
                {changeText(group.total[view.metric], group.previous?.[view.metric], t)}
              </td>
            </tr>
          ))}
          {usage.other && (
            <tr className="border-t border-line text-muted">
              <th scope="row" className="py-2 text-start font-normal">
                {t('usage.other', { count: usage.other.groups })}
              </th>
              <td className={cell}>{format(usage.other.total[view.metric])}</td>
              <td className={cell}>{share(usage.other.total[view.metric])}</td>
              <td className={`${cell} max-sm:hidden`} />
            </tr>
          )}
        </tbody>
      </table>
    </Card>
  )
}

function GroupLink({ name, groupKey, view }: { name: string; groupKey: string; view: UsageView }) {
  const t = useText()
  const { from, to } = rangeOf(view)
  const shown = name || t('usage.unnamed')
  const narrowed =
    view.group === 'model'
      ? { model: name }
      : view.group === 'token'
        ? { token: name }
        : view.group === 'user'
          ? { user: name }
          : { channel: groupKey }
  return (
    <Link
      to="/log"
      search={{ ...narrowed, from: String(from), to: String(to - 1) }}
      aria-label={t('usage.ranking.logs', { name: shown })}
      className="block truncate text-link hover:underline"
    >
      {shown}
    </Link>
  )
}

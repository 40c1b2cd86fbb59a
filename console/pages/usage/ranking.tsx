import { Link } from '@tanstack/react-router'
import { ListFilter } from 'lucide-react'
import type { Usage } from '../../../contract/api/usage.ts'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { formatNumber, formatPercent, quotaDecimals, useFormatQuota } from '../../lib/format.ts'
import { lossClass } from '../../lib/loss-class.ts'
import { useText } from '../../lib/text.ts'
import { changeShort, changeText } from './figures.tsx'
import { filterOf, type Group, nextGroup } from './group-filter.ts'
import { isMoney } from './money-metrics.ts'
import { nameOfGroup } from './name-of-group.ts'
import { logsOf, type UsageView } from './queries.ts'
import type { UsageSearch } from './search.ts'

interface RankingProps {
  usage: Usage
  view: UsageView
  /** The current grouping. */
  by: Group
  onNarrow(change: Partial<UsageSearch>): void
}

/**
 * Groups are distinguished by id, but filters use names. A group without a name, or with the same name as another
 * group, cannot be used as a filter.
 */
function canNarrow(by: Group, group: Usage['groups'][number], { groups }: Usage): boolean {
  if (filterOf(by, group) === undefined) return false
  return by === 'channel' || groups.every((other) => other === group || other.name !== group.name)
}

/**
 * The groups sorted by usage, with their share and their change. Each name links to the logs of its group, and a button
 * filters by it.
 */
export function Ranking({ usage, view, by, onNarrow }: RankingProps) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const format = isMoney(view.metric)
    ? (value: number) => formatQuota(value, quotaDecimals(usage.total.quota))
    : formatNumber
  const whole = usage.total[view.metric] ?? 0
  const share = (value: number) => (whole > 0 && value >= 0 ? formatPercent(value / whole) : '–')
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
                <span className="flex items-center gap-1">
                  <GroupLink
                    by={by}
                    name={group.name}
                    logs={logsOf(view, { from: usage.start, to: usage.end })}
                    filter={filterOf(by, group)}
                  />
                  {canNarrow(by, group, usage) && (
                    <IconButton
                      label={t('usage.only', { name: nameOfGroup(by, group.name, t) })}
                      icon={<ListFilter />}
                      onClick={() => onNarrow({ ...filterOf(by, group), group: nextGroup[by] })}
                    />
                  )}
                </span>
              </th>
              <td className={`${cell} ${lossClass(group.total[view.metric])}`}>
                {format(group.total[view.metric] ?? 0)}
              </td>
              <td className={cell}>{share(group.total[view.metric] ?? 0)}</td>
              <td
                className={`${cell} text-muted max-sm:hidden`}
                title={changeText(group.total[view.metric] ?? 0, group.previous?.[view.metric], t)}
              >
                {changeShort(group.total[view.metric] ?? 0, group.previous?.[view.metric], t)}
              </td>
            </tr>
          ))}
          {usage.other && (
            <tr className="border-t border-line text-muted">
              <th scope="row" className="py-2 text-start font-normal">
                {t('usage.other', { count: usage.other.groups })}
              </th>
              <td className={cell}>{format(usage.other.total[view.metric] ?? 0)}</td>
              <td className={cell}>{share(usage.other.total[view.metric] ?? 0)}</td>
              <td className={`${cell} max-sm:hidden`} />
            </tr>
          )}
        </tbody>
      </table>
    </Card>
  )
}

interface GroupLinkProps {
  by: Group
  name: string
  /** The filters of the view. */
  logs: Record<string, string>
  /** The filter for the group; undefined = its calls cannot be filtered, so the name is no link. */
  filter: ReturnType<typeof filterOf>
}

function GroupLink({ by, name, logs, filter }: GroupLinkProps) {
  const t = useText()
  const shown = nameOfGroup(by, name, t)
  if (filter === undefined) return <span className="block truncate">{shown}</span>
  return (
    <Link
      to="/log"
      search={{ ...logs, ...filter }}
      aria-label={t('usage.ranking.logs', { name: shown })}
      className="block truncate text-link hover:underline"
    >
      {shown}
    </Link>
  )
}

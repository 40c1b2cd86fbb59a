import { DayBox } from '../../components/form/day-box.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { Select } from '../../components/ui/select.tsx'
import { isFor } from '../../lib/facets.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { isOfCosts } from './money-metrics.ts'
import type { UsageView } from './queries.ts'
import { rollupsOf } from './range.ts'
import { rememberRange } from './remembered-range.ts'
import { shownGroups, shownMetrics, shownRanges, type UsageSearch } from './search.ts'

const momentOf = (text: string) => (text === '' ? undefined : Number(text))

/** Ranges that links and saved views may contain, but that are not offered. */
const olderRanges: readonly UsageView['range'][] = ['24h', '90d']

/** The pairs of dimensions by which the table can be grouped. It can also be grouped by a single dimension. */
const pairs = [
  ['user', 'model'],
  ['project', 'model'],
  ['project', 'user'],
  ['project', 'day'],
  ['token', 'day'],
  ['user', 'day'],
  ['model', 'day'],
] as const

/** Choices begin with a capital. Their texts do not, because they also occur within sentences. */
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** The choice of metric, time range and grouping. */
export function Controls(props: {
  view: UsageView
  /** Whether the cost of at least one request is known. */
  hasCosts: boolean
  onChange(change: Partial<UsageSearch>): void
}) {
  const { view, hasCosts, onChange } = props
  const t = useText()
  const admin = isAdmin(useSessionUser())
  // Servers that have only one-api's endpoints do not record how a call ended.
  const classic = useClassicServer()
  const metrics = shownMetrics.filter(
    (metric) => (!classic || metric !== 'failed') && (!isOfCosts(metric) || hasCosts || metric === view.metric),
  )
  const groups = shownGroups.filter((group) => isFor(admin, group) && (!classic || group !== 'project'))
  const shownPairs = classic ? [] : pairs.filter(([group, and]) => isFor(admin, group) && isFor(admin, and))
  return (
    <>
      <Segmented
        label={t('usage.range')}
        options={shownRanges
          .filter((value) => value === view.range || !olderRanges.includes(value))
          .map((value) => ({ value, label: t(`usage.range.${value}`) }))}
        value={view.range}
        onChange={(range) => {
          rememberRange(range)
          onChange({ range, from: undefined, to: undefined, rollup: undefined, page: undefined })
        }}
      />
      {view.range === 'custom' && (
        <>
          <DayBox
            label={t('usage.from')}
            value={momentOf(view.from)}
            onChange={(from) => onChange({ from: from?.toString(), page: undefined })}
          />
          <DayBox
            label={t('usage.to')}
            isEnd
            value={momentOf(view.to)}
            onChange={(to) => onChange({ to: to?.toString(), page: undefined })}
          />
        </>
      )}
      <Segmented
        label={t('usage.metric')}
        options={metrics.map((value) => ({ value, label: t(`usage.metric.${value}`) }))}
        value={view.metric}
        onChange={(metric) => onChange({ metric })}
      />
      <label className="flex max-w-full flex-wrap items-center gap-2 text-sm text-muted">
        {t('usage.group')}
        <Select
          value={view.and === undefined ? view.group : `${view.group} ${view.and}`}
          onChange={(event) => {
            const [group, and] = event.target.value.split(' ') as [UsageView['group'], UsageView['and']]
            onChange({ group, and, page: undefined, sort: undefined })
          }}
          className="w-auto! max-w-full"
        >
          {groups.map((group) => (
            <option key={group} value={group}>
              {capital(t(`usage.group.${group}`))}
            </option>
          ))}
          {shownPairs.map(([group, and]) => (
            <option key={`${group} ${and}`} value={`${group} ${and}`}>
              {capital(t('usage.group.pair', { first: t(`usage.group.${group}`), second: t(`usage.group.${and}`) }))}
            </option>
          ))}
        </Select>
      </label>
      <label className="flex max-w-full flex-wrap items-center gap-2 text-sm text-muted">
        {t('usage.rollup')}
        <Select
          value={view.rollup}
          onChange={(event) => onChange({ rollup: event.target.value as UsageView['rollup'] })}
          className="w-auto! max-w-full"
        >
          {rollupsOf(view).map((rollup) => (
            <option key={rollup} value={rollup}>
              {capital(t(`usage.rollup.${rollup}`))}
            </option>
          ))}
        </Select>
      </label>
      <label className="flex items-center gap-2 text-sm">
        <Checkbox
          checked={view.cumulative !== ''}
          onChange={(event) => onChange({ cumulative: event.target.checked ? '1' : undefined })}
        />
        {t('usage.cumulative')}
      </label>
    </>
  )
}

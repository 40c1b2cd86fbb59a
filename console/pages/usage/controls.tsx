import { MomentBox } from '../../components/form/moment-box.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Select } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { isFor } from './choices.ts'
import type { UsageView } from './queries.ts'
import { rollupsOf } from './range.ts'
import { shownGroups, shownMetrics, shownRanges, type UsageSearch } from './search.ts'

const momentOf = (text: string) => (text === '' ? undefined : Number(text))

/** The choice of metric, time range and grouping. */
export function Controls({ view, onChange }: { view: UsageView; onChange(change: Partial<UsageSearch>): void }) {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  // On servers without the additional endpoints, the log does not record how a call ended.
  const classic = useClassicServer()
  const metrics = shownMetrics.filter((metric) => !classic || metric !== 'failed')
  const groups = shownGroups.filter((group) => isFor(admin, group))
  return (
    <>
      <Segmented
        label={t('usage.range')}
        options={shownRanges.map((value) => ({ value, label: t(`usage.range.${value}`) }))}
        value={view.range}
        onChange={(range) => onChange({ range, from: undefined, to: undefined, rollup: undefined })}
      />
      {view.range === 'custom' && (
        <>
          <MomentBox
            label={t('usage.from')}
            value={momentOf(view.from)}
            onChange={(from) => onChange({ from: from?.toString() })}
          />
          <MomentBox
            label={t('usage.to')}
            value={momentOf(view.to)}
            onChange={(to) => onChange({ to: to?.toString() })}
          />
        </>
      )}
      <Segmented
        label={t('usage.metric')}
        options={metrics.map((value) => ({ value, label: t(`usage.metric.${value}`) }))}
        value={view.metric}
        onChange={(metric) => onChange({ metric })}
      />
      <label className="flex items-center gap-2 text-sm text-muted">
        {t('usage.group')}
        <Select
          value={view.group}
          onChange={(event) => onChange({ group: event.target.value as UsageView['group'] })}
          className="w-auto!"
        >
          {groups.map((group) => (
            <option key={group} value={group}>
              {t(`usage.group.${group}`)}
            </option>
          ))}
        </Select>
      </label>
      <label className="flex items-center gap-2 text-sm text-muted">
        {t('usage.rollup')}
        <Select
          value={view.rollup}
          onChange={(event) => onChange({ rollup: event.target.value as UsageView['rollup'] })}
          className="w-auto!"
        >
          {rollupsOf(view).map((rollup) => (
            <option key={rollup} value={rollup}>
              {t(`usage.rollup.${rollup}`)}
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

import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Select } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import type { UsageView } from './queries.ts'
import { shownGroups, shownMetrics, shownRanges, shownRollups, type UsageSearch } from './search.ts'

/** What is shown, of which time, by what. */
export function Controls({ view, onChange }: { view: UsageView; onChange(change: Partial<UsageSearch>): void }) {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  const groups = shownGroups.filter((group) => admin || (group !== 'user' && group !== 'channel'))
  return (
    <div className="flex flex-wrap items-center gap-3 pb-4">
      <Segmented
        label={t('usage.range')}
        options={shownRanges.map((value) => ({ value, label: t(`usage.range.${value}`) }))}
        value={view.range}
        onChange={(range) => onChange({ range, rollup: undefined })}
      />
      <Segmented
        label={t('usage.metric')}
        options={shownMetrics.map((value) => ({ value, label: t(`usage.metric.${value}`) }))}
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
          {shownRollups.map((rollup) => (
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
    </div>
  )
}

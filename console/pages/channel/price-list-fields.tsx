import { useId } from 'react'
import { type FeedInput, feedKinds } from '../../../contract/api/channel-costs.ts'
import { Input } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { useText } from '../../lib/text.ts'

/** Which price list is read. An empty URL means the price list of the channel's own service. */
export type PriceList = Pick<FeedInput, 'kind' | 'url' | 'group'>

/** The classes of a label with its field below it. */
export const labelClass = 'flex flex-col gap-1 text-sm font-medium'

/** The fields for choosing a price list, without a box around them. */
export function PriceListFields({ list, onChange }: { list: PriceList; onChange(change: Partial<PriceList>): void }) {
  const t = useText()
  const hintId = useId()
  return (
    <>
      <label className={labelClass}>
        {t('carry.costs.kind')}
        <Select value={list.kind} onChange={(event) => onChange({ kind: event.target.value as PriceList['kind'] })}>
          {feedKinds.map((each) => (
            <option key={each} value={each}>
              {t(`carry.costs.kind.${each}`)}
            </option>
          ))}
        </Select>
      </label>
      <div className="flex flex-col gap-1">
        <label className={labelClass}>
          {t('carry.costs.url')}
          <Input
            value={list.url}
            spellCheck={false}
            aria-describedby={hintId}
            onChange={(event) => onChange({ url: event.target.value })}
          />
        </label>
        <p id={hintId} className="text-sm text-muted">
          {t('carry.costs.url.hint')}
        </p>
      </div>
      {list.kind === 'gateway' && (
        <label className={labelClass}>
          {t('carry.costs.group')}
          <Input
            value={list.group}
            placeholder="default"
            onChange={(event) => onChange({ group: event.target.value })}
          />
        </label>
      )}
    </>
  )
}

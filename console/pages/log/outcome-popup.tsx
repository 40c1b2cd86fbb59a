import { useState } from 'react'
import { logOutcomes, ownOutcomes, usualSlowSeconds } from '../../../contract/log-outcomes.ts'
import { IsOrNot } from '../../components/facets/is-or-not.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import type { Trigger } from '../../components/ui/on-demand.tsx'
import { PopoverPopup } from '../../components/ui/popover-popup.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useText } from '../../lib/text.ts'
import { type OutcomeChoice, outcomeChoice, outcomePatch } from './filters.ts'
import { outcomeName, slowSeconds } from './outcome-names.ts'
import type { LogSearch } from './search.ts'

/** The durations in seconds that can be chosen as the limit for slow calls. */
const durations: readonly number[] = [5, usualSlowSeconds, 30, 60]

export interface OutcomePopupProps {
  trigger: Trigger
  label: string
  search: LogSearch
  everybody: boolean
  onChange(patch: Partial<LogSearch>): void
}

/**
 * Checkboxes for the outcomes, with a choice between "is" and "is not". The component is loaded when the filter is
 * first opened.
 */
export function OutcomePopup({ trigger, label, search, everybody, onChange }: OutcomePopupProps) {
  const t = useText()
  const choice = outcomeChoice(search, everybody)
  const [mode, setMode] = useState<'is' | 'not'>(choice.is.length === 0 && choice.not.length > 0 ? 'not' : 'is')
  const chosen = choice[mode]
  const seconds = slowSeconds(search)
  const set = (values: OutcomeChoice['is']) => {
    const other = choice[mode === 'is' ? 'not' : 'is'].filter((each) => !values.includes(each))
    onChange(outcomePatch(mode === 'is' ? { is: values, not: other } : { is: other, not: values }, seconds))
  }
  const turn = (next: 'is' | 'not') => {
    setMode(next)
    const patch = next === 'is' ? { is: chosen, not: [] } : { is: [], not: chosen }
    if (chosen.length > 0) onChange(outcomePatch(patch, seconds))
  }
  return (
    <PopoverPopup trigger={trigger} title={label} align="start">
      <div className="flex w-56 max-w-full flex-col items-start gap-2">
        <IsOrNot label={label} value={mode} onChange={turn} />
        <fieldset className="-mx-1 w-[calc(100%+0.5rem)]">
          <legend className="sr-only">{label}</legend>
          {(everybody ? logOutcomes : ownOutcomes).map((outcome) => (
            <label
              key={outcome}
              className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 text-sm hover:bg-hover max-sm:min-h-10"
            >
              <Checkbox
                checked={chosen.includes(outcome)}
                onChange={({ target }) =>
                  set(target.checked ? [...chosen, outcome] : chosen.filter((each) => each !== outcome))
                }
              />
              {outcomeName(outcome, seconds, t)}
            </label>
          ))}
        </fieldset>
        <p aria-hidden="true" className="text-sm text-muted">
          {t('log.outcome.slowFrom')}
        </p>
        <Segmented
          label={t('log.outcome.slowFrom')}
          options={[...new Set([...durations, seconds])]
            .sort((a, b) => a - b)
            .map((each) => ({ value: String(each), label: t('log.seconds', { value: each }) }))}
          value={String(seconds)}
          onChange={(next) => onChange(outcomePatch(choice, Number(next)))}
        />
      </div>
    </PopoverPopup>
  )
}

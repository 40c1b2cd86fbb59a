import type { LogOutcome } from '../../../contract/log-outcomes.ts'
import { FacetButton } from '../../components/facets/facet-button.tsx'
import { facetText } from '../../components/facets/facet-text.ts'
import { lazyPart } from '../../components/ui/on-demand.tsx'
import { importPart } from '../../lib/chunk.ts'
import { useText } from '../../lib/text.ts'
import { outcomeChoice, outcomePatch } from './filters.ts'
import { outcomeName, slowSeconds } from './outcome-names.ts'
import type { OutcomePopupProps } from './outcome-popup.tsx'
import type { LogSearch } from './search.ts'

const part = lazyPart<OutcomePopupProps>(
  async () => (await importPart(() => import('./outcome-popup.tsx'))).OutcomePopup,
)

/** A description of the outcomes that a search selects; undefined if it selects all. */
export function useOutcomeText(search: LogSearch, everybody: boolean): string | undefined {
  const t = useText()
  const { is, not } = outcomeChoice(search, everybody)
  const name = (outcome: LogOutcome) => outcomeName(outcome, slowSeconds(search), t)
  return facetText(t, t('log.filter.outcome'), { is: is.map(name), not: not.map(name) })
}

interface OutcomeFilterProps {
  search: LogSearch
  everybody: boolean
  onChange(patch: Partial<LogSearch>): void
}

/** The filter for the outcome of calls. */
export function OutcomeFilter({ search, everybody, onChange }: OutcomeFilterProps) {
  const t = useText()
  const text = useOutcomeText(search, everybody)
  const label = t('log.filter.outcome')
  return (
    <FacetButton label={label} text={text} onClear={() => onChange(outcomePatch({ is: [], not: [] }))} part={part}>
      {(Popup, trigger) => (
        <Popup trigger={trigger} label={label} search={search} everybody={everybody} onChange={onChange} />
      )}
    </FacetButton>
  )
}

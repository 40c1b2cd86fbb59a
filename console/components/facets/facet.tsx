import { useQuery } from '@tanstack/react-query'
import { importPart } from '../../lib/chunk.ts'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { facetValues } from '../../lib/facets.ts'
import { severalText } from '../../lib/several.ts'
import { useText } from '../../lib/text.ts'
import { lazyPart } from '../ui/on-demand.tsx'
import { FacetButton } from './facet-button.tsx'
import type { FacetPopupProps } from './facet-popup.tsx'
import { facetText } from './facet-text.ts'
import { type FacetValue, type ValuesOf, valuesQuery } from './values-query.ts'

const part = lazyPart<FacetPopupProps>(async () => (await importPart(() => import('./facet-popup.tsx'))).FacetPopup)

export interface FacetProps extends ValuesOf {
  label: string
  search: FacetSearch
  onChange(patch: FacetSearch): void
}

/** Returns a function from a value of a facet to its name. Values of channels are ids; other values are names. */
function useNames({ of, range, mine }: ValuesOf, values: readonly string[]): (value: string) => string {
  const { data = [] } = useQuery({
    ...valuesQuery({ of, range, mine }, ''),
    enabled: of === 'channel' && values.length > 0,
  })
  const names = new Map(data.map(({ value, name }) => [value, name]))
  return (value) => (of === 'channel' ? names.get(value) || `#${value}` : value)
}

/** A description of the facet if it is set, for a line that summarises the filters. */
export function useFacetText({ of, range, mine, label, search }: Omit<FacetProps, 'onChange'>): string | undefined {
  const t = useText()
  const is = facetValues(search, of)
  const not = facetValues(search, `not_${of}`)
  const nameOf = useNames({ of, range, mine }, [...is, ...not])
  return facetText(t, label, { is: is.map(nameOf), not: not.map(nameOf) })
}

/** A filter with several values, which the user finds by typing. */
export function Facet(props: FacetProps) {
  const { of, range, mine, label, search, onChange } = props
  const text = useFacetText(props)
  return (
    <FacetButton
      label={label}
      text={text}
      onClear={() => onChange({ [of]: undefined, [`not_${of}`]: undefined })}
      part={part}
    >
      {(Popup, trigger) => (
        <Popup
          trigger={trigger}
          of={of}
          range={range}
          mine={mine}
          label={label}
          value={facetValue(search, of)}
          onChange={(value) => onChange(patchOf(of, value))}
        />
      )}
    </FacetButton>
  )
}

function facetValue(search: FacetSearch, of: FacetProps['of']): FacetValue {
  return { is: facetValues(search, of), not: facetValues(search, `not_${of}`) }
}

function patchOf(of: FacetProps['of'], { is, not }: FacetValue): FacetSearch {
  return { [of]: severalText(is), [`not_${of}`]: severalText(not) }
}

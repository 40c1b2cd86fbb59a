import type { FacetSearch } from '../../lib/facet-search.ts'
import { facetNames, isFor } from '../../lib/facets.ts'
import { useText } from '../../lib/text.ts'
import { FilterChip } from '../data-table/filter-bar.tsx'
import { Facet, type FacetProps, useFacetText } from './facet.tsx'

interface FacetsProps {
  search: FacetSearch
  onChange(patch: FacetSearch): void
  /** The time range whose values are offered, in epoch seconds; 0 means no limit. */
  range: { start: number; end: number }
  /** Whether the rows of all users are filtered. If so, users and channels can be chosen, too. */
  everybody: boolean
  /** Shows only the facets that are set, as chips with a button that removes them. */
  chips?: boolean
}

/** The facets of logs and usage. */
export function Facets({ search, onChange, range, everybody, chips = false }: FacetsProps) {
  const t = useText()
  const Each = chips ? Chip : Facet
  return facetNames
    .filter((of) => isFor(everybody, of))
    .map((of) => (
      <Each
        key={of}
        of={of}
        label={t(`table.facet.${of}`)}
        range={range}
        mine={!everybody}
        search={search}
        onChange={onChange}
      />
    ))
}

function Chip(props: FacetProps) {
  const { of, label, onChange } = props
  const text = useFacetText(props)
  if (text === undefined) return null
  const remove = () => onChange({ [of]: undefined, [`not_${of}`]: undefined })
  return <FilterChip label={label} text={text} onRemove={remove} />
}

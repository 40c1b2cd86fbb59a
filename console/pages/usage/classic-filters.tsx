import { useEffect, useState } from 'react'
import { NameBox } from '../../components/data-table/name-box.tsx'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { classicNames, isChannelId, isFor } from '../../lib/facets.ts'
import { useText } from '../../lib/text.ts'

interface ClassicFiltersProps {
  search: FacetSearch
  admin: boolean
  onChange(patch: FacetSearch, options?: { replace: boolean }): void
}

/**
 * Filters for servers that accept only one value per filter and cannot list values. A filter is applied on Enter or
 * when the user leaves its box.
 */
export function ClassicFilters({ search, admin, onChange }: ClassicFiltersProps) {
  const t = useText()
  return classicNames
    .filter((name) => isFor(admin, name))
    .map((name) => (
      <Filter
        key={name}
        name={name}
        label={t(`usage.filter.${name}`)}
        value={search[name] ?? ''}
        onChange={(value, options) => onChange({ [name]: value === '' ? undefined : value }, options)}
      />
    ))
}

interface FilterProps {
  name: (typeof classicNames)[number]
  label: string
  value: string
  onChange(value: string, options?: { replace: boolean }): void
}

function Filter({ name, label, value, onChange }: FilterProps) {
  const [typed, setTyped] = useState(value)
  // Updates the box when the browser's back and forward buttons, or the button that clears all filters, change the
  // value.
  useEffect(() => setTyped(value), [value])
  const take = (options?: { replace: boolean }) => {
    const text = typed.trim()
    // The channel filter accepts only an id; any other text is replaced by the previous value.
    if (name === 'channel' && text !== '' && !isChannelId(text)) setTyped(value)
    else if (text !== value) onChange(text, options)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        take()
      }}
    >
      <NameBox
        of={name === 'channel' ? undefined : name}
        label={label}
        value={typed}
        onChange={setTyped}
        onLeave={() => take({ replace: true })}
      />
    </form>
  )
}
